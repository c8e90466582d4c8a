ridge timeline --range step --instance x timeline/alloc.sqlite
