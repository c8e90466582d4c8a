ridge occupancy --gpu h200 --threads 256 --regs 64 --smem 70KB --carveout 64KiB
