ridge timeline --json --gaps 2 timeline/alloc.sqlite
