ridge source --by time raw_page_h200.csv
