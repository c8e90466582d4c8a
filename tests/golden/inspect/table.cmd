ridge inspect binary/sample_90.cubin.gz
