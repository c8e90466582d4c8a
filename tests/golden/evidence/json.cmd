sh ../golden/with_ledger ledger/campaign.jsonl 'evidence --json' | head -63
