ridge ledger --help
