ridge occupancy --gpu h200 -t 64 -r 32 --barriers 8
