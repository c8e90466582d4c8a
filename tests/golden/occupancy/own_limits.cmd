ridge occupancy --gpu-file chips/cut.json -t 256 -r 32 -s 60KB
