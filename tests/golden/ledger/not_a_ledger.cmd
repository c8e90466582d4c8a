sh ../golden/with_ledger - 'ledger log --ledger $DATA/raw_page_h200.csv'
