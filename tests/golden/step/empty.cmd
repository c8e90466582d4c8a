sh ../golden/with_ledger - 'step start -c c " "'
