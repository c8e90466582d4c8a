sh ../golden/with_ledger - 'step start one'
