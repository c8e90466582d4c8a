ridge timeline --csv nvtx_gpu_proj_sum timeline/alloc.sqlite
