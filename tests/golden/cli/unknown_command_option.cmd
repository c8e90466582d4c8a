ridge kernels --jsn repeated_launches.csv
