ridge occupancy --gpu h100 -t 1024 -r 32
