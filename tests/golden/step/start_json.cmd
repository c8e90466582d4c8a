sh ../golden/with_ledger - 'step start --json -c c --predict 0.5 "one change"'
