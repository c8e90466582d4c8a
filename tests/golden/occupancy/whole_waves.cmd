ridge occupancy --gpu h200 -t 256 -r 168 --grid 528
