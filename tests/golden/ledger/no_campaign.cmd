sh ../golden/with_ledger - 'ledger import --create /dev/null >/dev/null' 'ledger log'
