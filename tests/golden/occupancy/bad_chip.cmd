ridge occupancy --gpu-file chips/misspelled.json -t 32
