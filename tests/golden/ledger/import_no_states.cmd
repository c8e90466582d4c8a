sh ../golden/with_ledger - 'ledger import --create - <$DATA/foreign/no_states.json'
