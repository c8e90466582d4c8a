ridge gpus --markdown a100-p
