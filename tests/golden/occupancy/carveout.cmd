ridge occupancy --gpu a100 -t 128 -r 32 -s 30KiB --carveout 60KiB
