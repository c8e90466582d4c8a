ridge occupancy --gpu h200 -t 256 -r 64 -s 70KB --grid 1000 --loads 2 --width 8 --table shared --json
