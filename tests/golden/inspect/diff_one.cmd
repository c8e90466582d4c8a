ridge inspect --diff binary/sample_90.cubin.gz
