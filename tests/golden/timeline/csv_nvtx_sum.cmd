ridge timeline --csv nvtx_sum timeline/alloc.sqlite
