ridge inspect --diff binary/tiny_none.fatbin.gz binary/tiny_size.fatbin.gz
