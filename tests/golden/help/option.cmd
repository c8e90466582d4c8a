ridge help --help
