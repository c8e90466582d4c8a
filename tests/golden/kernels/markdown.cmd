ridge kernels --markdown repeated_launches.csv
