sh ../golden/with_ledger - 'ledger import --create /dev/null >/dev/null' 'ledger add-profile --json --launch 0 $DATA/raw_page_h200.csv'
