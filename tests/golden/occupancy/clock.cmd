ridge occupancy --gpu h20 -t 256 -r 128 --clock 1830 --loads 1 --width 8
