ridge diagnose details_page.csv
