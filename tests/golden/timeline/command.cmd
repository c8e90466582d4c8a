ridge timeline --show-command timeline/alloc.sqlite | tail -4
