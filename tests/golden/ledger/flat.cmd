sh ../golden/with_ledger ledger/campaign.jsonl 'ledger flat'
