ridge gpus a100
