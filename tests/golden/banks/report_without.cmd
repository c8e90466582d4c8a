ridge banks --from-report repeated_launches.csv
