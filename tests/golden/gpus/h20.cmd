ridge gpus h20
