ridge gpus
