ridge occupancy --gpu h200 -t 32 --tile 128x128
