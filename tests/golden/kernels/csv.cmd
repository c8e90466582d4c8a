ridge kernels --csv repeated_launches.csv
