ridge check --help
