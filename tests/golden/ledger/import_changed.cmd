sh ../golden/with_ledger - 'ledger import --create $DATA/ledger/changed.jsonl' 2>&1 | sed 's|ridge: /.*/|ridge: |'
