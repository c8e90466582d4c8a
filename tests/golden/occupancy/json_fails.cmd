ridge occupancy --gpu 8.0 -t 1024 -r 96 --json
