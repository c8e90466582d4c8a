ridge bench --roofs probe:copy
