sh ../golden/with_ledger - 'step start -c c base' 'ledger add-profile $DATA/ladder/stride_128.ncu-rep.zst' 'ledger query "SELECT name, value, unit, text FROM metric ORDER BY name"'
