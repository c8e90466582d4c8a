ridge occupancy --gpu h200 --threads 256 --regs 168 --problem 8192x6144 --tile 128x128 --loads 2
