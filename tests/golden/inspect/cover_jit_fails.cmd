ridge inspect --cover 9.0,12.0 --cover-jit-fails binary/tiny_default.fatbin.gz
