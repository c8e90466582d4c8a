ridge timeline --csv cuda_gpu_kern_gb_sum timeline/alloc.sqlite
