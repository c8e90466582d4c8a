sh ../golden/with_ledger ledger/campaign.jsonl 'ledger query "DELETE FROM note"'
