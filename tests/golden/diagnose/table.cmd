ridge diagnose repeated_launches.csv
