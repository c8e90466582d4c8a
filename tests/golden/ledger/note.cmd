sh ../golden/with_ledger ledger/campaign.jsonl 'ledger note 6eff160e "on a busy machine"' 'ledger query "SELECT subject_id, at, text FROM note"'
