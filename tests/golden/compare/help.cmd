ridge compare --help
