ridge kernels -a --kernel '^(fill|norm)_kernel' repeated_launches.csv
