ridge metrics --markdown -l 0 repeated_launches.csv
