ridge diagnose --launch 7 repeated_launches.csv
