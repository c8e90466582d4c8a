ridge inspect --sort cost binary/sample_90.cubin.gz
