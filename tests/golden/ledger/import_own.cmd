sh ../golden/with_ledger - 'ledger import --create $DATA/ledger/called.jsonl' 'ledger import $DATA/ledger/called.jsonl'
