sh ../golden/with_ledger ledger/campaign.jsonl 'evidence 6eff160e' | head -40
