sh ../golden/with_ledger ledger/called.jsonl 'step keep' 'evidence scale' 2>/dev/null | grep -E '^ridge c|^Sources|committed'
