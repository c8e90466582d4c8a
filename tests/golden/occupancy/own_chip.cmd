ridge occupancy --gpu-file chips/h20_lab.json -t 256 -r 64 -s 50.752KB --loads 2 --grid 1000
