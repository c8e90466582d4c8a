ridge kernels -k '(' repeated_launches.csv 2>/dev/null
