ridge occupancy --gpu rtx4090 -t 256 -r 40 -s 20KiB --markdown
