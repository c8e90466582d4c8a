ridge bound model --help
