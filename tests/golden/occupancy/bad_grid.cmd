ridge occupancy --gpu h200 -t 32 --grid 8x0
