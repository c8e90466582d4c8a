ridge timeline --csv kern timeline/alloc.sqlite
