ridge inspect --cover 8.0,h2000 binary/sample_90.cubin.gz
