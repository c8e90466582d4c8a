ridge gpus h201
