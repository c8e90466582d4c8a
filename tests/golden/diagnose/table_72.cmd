COLUMNS=72 ridge diagnose repeated_launches.csv
