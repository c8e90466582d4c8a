ridge diagnose --help
