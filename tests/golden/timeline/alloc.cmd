ridge timeline timeline/alloc.sqlite
