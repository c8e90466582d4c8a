ridge occupancy --gpu h200 --threads 256 --regs 32 --smem 127468
