ridge metrics --help
