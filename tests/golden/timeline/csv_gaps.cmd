ridge timeline --csv gaps timeline/alloc.sqlite
