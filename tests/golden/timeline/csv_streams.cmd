ridge timeline --csv streams timeline/alloc.sqlite
