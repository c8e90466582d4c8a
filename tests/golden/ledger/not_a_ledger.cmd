sh ../golden/with_ledger - 'ledger log --ledger $DATA/raw_page_h200.csv' 2>&1 | sed 's|ridge: /.*/|ridge: |'
