ridge occupancy --gpu h200 -t 256 -r 64 -s 70KB --table shared --csv
