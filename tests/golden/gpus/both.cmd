ridge gpus h200 --gpu-file chips/cut.json
