ridge occupancy --gpu h200 -t 32 --barriers 17
