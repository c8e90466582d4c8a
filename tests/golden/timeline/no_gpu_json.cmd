ridge timeline --json timeline/no_gpu.json
