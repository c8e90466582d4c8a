ridge inspect --mix --csv binary/sample_90.cubin.gz
