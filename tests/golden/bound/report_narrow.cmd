COLUMNS=60 ridge bound --report repeated_launches.csv --gpu h200
