sh ../golden/with_ledger - 'ledger import --create /dev/null >/dev/null' 'ledger add-profile $DATA/repeated_launches.csv' 2>&1 | sed 's|ridge: /.*/|ridge: |'
