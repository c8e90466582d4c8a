ridge inspect binary/tiny_default.fatbin.gz
