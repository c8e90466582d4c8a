ridge metrics raw_page_h200.csv gpu__
