sh ../golden/with_ledger - 'ledger import --create /dev/null >/dev/null' 'ledger add-profile $DATA/repeated_launches.csv'
