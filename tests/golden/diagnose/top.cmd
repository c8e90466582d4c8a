ridge diagnose --top 2 repeated_launches.csv
