ridge record --help
