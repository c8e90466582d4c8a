ridge metrics repeated_launches.csv no__such
