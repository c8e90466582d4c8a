ridge timeline --csv cuda_gpu_kern_sum timeline/alloc.sqlite
