ridge inspect --baseline units.tsv binary/sample_90.cubin.gz
