ridge ledger schema | head -20
