ridge occupancy --gpu h20 -t 32 --clock 0
