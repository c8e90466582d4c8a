ridge source --json --by conflict raw_page_h200.csv
