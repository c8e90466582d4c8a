ridge inspect --mix --sass binary/sample_90.cubin.gz
