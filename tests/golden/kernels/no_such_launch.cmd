ridge kernels -l8 repeated_launches.csv
