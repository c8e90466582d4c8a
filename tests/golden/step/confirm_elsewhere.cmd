sh ../golden/with_ledger - 'ledger import --create --ledger other.ledger $DATA/ledger/called.jsonl >/dev/null' 'step keep --ledger other.ledger' 2>&1
