ridge metrics --json -l 7 repeated_launches.csv
