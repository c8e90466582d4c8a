ridge occupancy --gpu a100 -t 128 -r 72 --table registers
