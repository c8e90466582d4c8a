sh ../golden/with_ledger ledger/campaign.jsonl 'ledger query "SELECT zeroblob(900000000)"'
