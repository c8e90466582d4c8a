sh ../golden/with_ledger ledger/campaign.jsonl 'evidence ffffffff'
