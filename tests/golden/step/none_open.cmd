sh ../golden/with_ledger ledger/campaign.jsonl 'step keep'
