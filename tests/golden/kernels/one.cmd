ridge kernels raw_page_h200.csv
