ridge kernels --launch=5 repeated_launches.csv
