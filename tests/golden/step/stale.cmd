sh ../golden/with_ledger ledger/campaign.jsonl 'step start -p 2x change' 'step build 710f8d01'
