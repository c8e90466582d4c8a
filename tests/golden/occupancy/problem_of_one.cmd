ridge occupancy --gpu h200 -t 32 --problem 8192 --tile 128x128
