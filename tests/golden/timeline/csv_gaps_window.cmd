ridge timeline --csv gaps --window 1..2 timeline/alloc.sqlite
