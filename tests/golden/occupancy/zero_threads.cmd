ridge occupancy --gpu h200 -t 0
