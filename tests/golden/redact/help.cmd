ridge redact --help
