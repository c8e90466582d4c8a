sh ../golden/with_ledger ledger/campaign.jsonl "ledger query \"VACUUM INTO 'copy.db'\""
