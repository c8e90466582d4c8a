sh ../golden/with_ledger - 'step start -c c base' 'step keep -f "no build of it"' 'step start next' 'step keep -f "it is simpler"' 'step list'
