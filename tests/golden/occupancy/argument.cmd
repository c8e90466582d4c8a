ridge occupancy h200
