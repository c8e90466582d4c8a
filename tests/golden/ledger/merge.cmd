sh ../golden/with_ledger ledger/campaign.jsonl 'ledger merge --create --ledger two ridge.ledger' 'ledger merge --ledger two ridge.ledger'
