ridge metrics --csv repeated_launches.csv 'sm__*'
