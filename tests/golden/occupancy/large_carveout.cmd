ridge occupancy --gpu h200 -t 32 --carveout 1MiB
