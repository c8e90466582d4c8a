ridge inspect --mix -k spill binary/sample_90.cubin.gz
