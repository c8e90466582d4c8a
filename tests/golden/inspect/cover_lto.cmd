ridge inspect --cover 8.0 binary/tiny_lto.o.gz
