ridge occupancy --gpu h20 --threads 256 --regs 64 --smem 50.752KB
