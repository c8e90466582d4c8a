ridge explain --help
