ridge occupancy --gpu a100 -t 128 -r 40 --grid 4x16
