sh ../golden/with_ledger ledger/called.jsonl 'step keep'
