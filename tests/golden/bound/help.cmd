ridge bound --help
