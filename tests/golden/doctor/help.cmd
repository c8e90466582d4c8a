ridge doctor --help
