ridge inspect --cover 8.0,,9.0 binary/sample_90.cubin.gz
