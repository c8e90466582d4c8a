sh ../golden/with_ledger - 'ledger import --create $DATA/ledger/changed.jsonl'
