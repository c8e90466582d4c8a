ridge inspect --cover 8.0,8.7,9.0,12.0 binary/tiny_default.fatbin.gz
