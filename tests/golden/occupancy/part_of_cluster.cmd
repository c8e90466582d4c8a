ridge occupancy --gpu h200 -t 32 --cluster 4 --grid 130
