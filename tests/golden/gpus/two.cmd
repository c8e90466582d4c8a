ridge gpus h200 h20
