ridge inspect binary/tiny_lto.o.gz
