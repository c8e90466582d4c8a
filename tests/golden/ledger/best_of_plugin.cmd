sh ../golden/with_ledger ledger/plugin.jsonl 'ledger best'
