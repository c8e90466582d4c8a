ridge kernels --color sometimes repeated_launches.csv
