ridge occupancy --gpu h20 --threads 256 --regs 128 --smem 124.48KB
