ridge occupancy --gpu h200 -t 32x8 -r 64 | head -3; ridge occupancy --gpu h200 -t 8x8x4 -r 64 | head -1
