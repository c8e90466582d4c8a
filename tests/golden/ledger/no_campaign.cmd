sh ../golden/with_ledger - 'ledger import --create /dev/null' 'ledger log'
