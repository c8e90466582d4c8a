sh ../golden/with_ledger ledger/campaign.jsonl 'ledger show 6eff160e'
