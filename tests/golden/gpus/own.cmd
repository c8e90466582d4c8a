ridge gpus --gpu-file chips/h20_lab.json
