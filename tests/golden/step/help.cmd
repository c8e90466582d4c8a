ridge step --help
