ridge kernels --json --csv repeated_launches.csv
