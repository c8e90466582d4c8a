ridge bound --report raw_page_h200.csv --gpu h200
