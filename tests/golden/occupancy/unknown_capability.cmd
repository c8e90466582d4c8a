ridge occupancy --gpu 9.1 -t 32
