ridge kernels --all=yes repeated_launches.csv
