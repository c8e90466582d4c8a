ridge inspect binary/sample_75.cubin.gz binary/sample_90.cubin.gz
