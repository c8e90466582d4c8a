ridge gpus --gpu-file chips/none.json
