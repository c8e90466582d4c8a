sh ../golden/with_ledger - 'ledger import $DATA/ledger/campaign.jsonl'
