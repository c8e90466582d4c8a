ridge kernels --launch -1 repeated_launches.csv
