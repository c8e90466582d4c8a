ridge kernels -z repeated_launches.csv
