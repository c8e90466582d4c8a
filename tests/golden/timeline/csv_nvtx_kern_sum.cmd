ridge timeline --csv nvtx_kern_sum timeline/alloc.sqlite
