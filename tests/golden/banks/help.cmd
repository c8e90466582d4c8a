ridge banks --help
