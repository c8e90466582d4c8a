sh ../golden/with_ledger - 'step start -c c base' 'step build $DATA/ledger/block_sum.json' 'step keep' 'step start next' 'step build $DATA/ledger/block_sum.json'
