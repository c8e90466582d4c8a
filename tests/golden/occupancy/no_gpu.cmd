ridge occupancy --threads 256
