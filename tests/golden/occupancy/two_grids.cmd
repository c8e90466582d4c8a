ridge occupancy --gpu h200 -t 32 --tile 64x64 --problem 128x128 --grid 4
