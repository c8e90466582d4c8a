ridge occupancy --gpu sm_86 -t 512 -r 40 --grid 100 --loads 2
