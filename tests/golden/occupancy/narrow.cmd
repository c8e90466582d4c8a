COLUMNS=60 ridge occupancy --gpu h200 -t 256 -r 96 -s 70KB --problem 8192x6144 --tile 128x128
