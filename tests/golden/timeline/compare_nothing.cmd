ridge timeline timeline/decode.json timeline/no_gpu.json
