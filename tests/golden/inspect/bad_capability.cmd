ridge inspect --cover 8.0,sm_999 binary/tiny_default.fatbin.gz
