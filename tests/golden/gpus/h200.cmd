ridge gpus h200
