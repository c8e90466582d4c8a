ridge gpus --help
