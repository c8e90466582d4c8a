ridge timeline timeline/no_gpu.json
