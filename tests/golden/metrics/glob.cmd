ridge metrics --launch 0 raw_page_h200.csv 'launch__*'
