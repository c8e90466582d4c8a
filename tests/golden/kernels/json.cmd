ridge kernels --json repeated_launches.csv
