ridge metrics raw_page_h200.csv | head -n 3
