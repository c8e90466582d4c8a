COLUMNS=80 ridge kernels repeated_launches.csv
