ridge bound --report repeated_launches.csv --gpu h200 --csv
