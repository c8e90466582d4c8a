sh ../golden/with_ledger - 'ledger import --create nothing.jsonl'
