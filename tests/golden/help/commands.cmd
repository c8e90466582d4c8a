ridge help
