sh ../golden/with_ledger - 'step start -c c base' 'step build rms_norm:none'
