COLUMNS=60 ridge gpus h
