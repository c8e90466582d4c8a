ridge source repeated_launches.csv
