ridge gpus --gpu-file chips/misspelled.json
