ridge kernels -k 'g*++++++++' repeated_launches.csv
