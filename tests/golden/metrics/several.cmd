ridge metrics -k norm repeated_launches.csv duration
