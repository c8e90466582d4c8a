ridge occupancy --gpu h200 -t 512 -r 64 --launch-bound 256
