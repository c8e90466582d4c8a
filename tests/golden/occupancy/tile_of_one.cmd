ridge occupancy --gpu h200 -t 32 --problem 8192x6144 --tile 128
