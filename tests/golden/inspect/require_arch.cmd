ridge inspect --require-arch 8.0,9.0,12.0 binary/tiny_default.fatbin.gz
