ridge inspect --markdown --cover 8.0,12.0 binary/tiny_default.fatbin.gz
