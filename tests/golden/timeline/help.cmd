ridge timeline --help
