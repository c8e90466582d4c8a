ridge gpus t4 --csv
