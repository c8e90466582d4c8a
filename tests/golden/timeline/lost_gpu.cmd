ridge timeline timeline/lost_gpu.json
