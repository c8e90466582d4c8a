ridge timeline --csv cuda_gpu_kern_sum:base timeline/prefill.json
