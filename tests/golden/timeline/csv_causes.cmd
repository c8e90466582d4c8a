ridge timeline --csv causes timeline/alloc.sqlite
