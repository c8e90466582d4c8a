ridge kernels repeated_launches.csv
