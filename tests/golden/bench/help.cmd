ridge bench --help
