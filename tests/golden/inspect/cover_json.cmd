ridge inspect --cover 8.0,9.0 --json -k "pair|sum" binary/tiny_default.fatbin.gz
