ridge occupancy --gpu h200
