ridge source --help
