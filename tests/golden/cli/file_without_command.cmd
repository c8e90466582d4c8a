ridge repeated_launches.csv
