ridge kernel repeated_launches.csv
