ridge diagnose --top 0 repeated_launches.csv
