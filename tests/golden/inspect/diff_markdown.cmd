ridge inspect --markdown --diff binary/tiny_default.fatbin.gz binary/tiny_debug.fatbin.gz
