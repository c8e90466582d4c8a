ridge occupancy --gpu h20 --gpu-file chips/cut.json -t 32
