ridge inspect --markdown binary/sample_90.cubin.gz
