ridge gpus --gpu-file chips/cut.json
