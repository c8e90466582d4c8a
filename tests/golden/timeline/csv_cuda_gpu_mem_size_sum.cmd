ridge timeline --csv cuda_gpu_mem_size_sum timeline/copies.json
