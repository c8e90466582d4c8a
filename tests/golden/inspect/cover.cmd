ridge inspect --cover 9.0,h200,12.0 binary/tiny_default.fatbin.gz
