ridge gpus --json b
