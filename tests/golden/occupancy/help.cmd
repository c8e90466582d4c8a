ridge occupancy --help
