ridge inspect --lines binary/sample_90.cubin.gz
