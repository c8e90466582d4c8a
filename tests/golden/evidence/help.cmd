ridge evidence --help
