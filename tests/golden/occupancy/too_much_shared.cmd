ridge occupancy --gpu a100 -t 256 -r 64 -s 200KiB
