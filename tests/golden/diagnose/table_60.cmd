COLUMNS=60 ridge diagnose repeated_launches.csv
