ridge inspect binary/tiny_debug.fatbin.gz
