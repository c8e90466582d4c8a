sh ../golden/with_ledger - 'ledger log'
