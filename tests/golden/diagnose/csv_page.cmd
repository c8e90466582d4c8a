ridge diagnose raw_page_h200.csv
