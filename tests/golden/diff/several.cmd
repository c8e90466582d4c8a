ridge diff repeated_launches.csv repeated_launches.csv
