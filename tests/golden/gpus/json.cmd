ridge gpus h200 --json
