ridge occupancy --gpu h200 -t 256 -r 168 --table threads
