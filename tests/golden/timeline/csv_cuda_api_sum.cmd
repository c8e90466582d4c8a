ridge timeline --csv cuda_api_sum timeline/alloc.sqlite
