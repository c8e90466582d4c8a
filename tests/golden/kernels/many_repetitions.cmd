ridge kernels -k '((((a{1,255}){1,255}){1,255}){1,255})' repeated_launches.csv
