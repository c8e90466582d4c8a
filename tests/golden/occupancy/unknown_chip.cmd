ridge occupancy --gpu h201 -t 32
