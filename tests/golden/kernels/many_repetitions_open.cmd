ridge kernels -k '((((a{255,}){255,}){255,}){255,})' repeated_launches.csv
