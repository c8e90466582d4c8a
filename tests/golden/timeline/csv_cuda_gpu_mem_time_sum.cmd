ridge timeline --csv cuda_gpu_mem_time_sum timeline/copies.json
