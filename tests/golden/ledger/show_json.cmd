sh ../golden/with_ledger ledger/campaign.jsonl 'ledger show --json 6eff160e'
