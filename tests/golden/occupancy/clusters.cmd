ridge occupancy --gpu h200 -t 256 -r 64 --cluster 16 --grid 1056
