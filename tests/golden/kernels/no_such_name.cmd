ridge kernels -k gemm repeated_launches.csv
