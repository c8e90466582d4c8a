sh ../golden/with_ledger - 'step stop'
