ridge source --top 0 repeated_launches.csv
