ridge kernels --all repeated_launches.csv
