ridge inspect --min-blocks 2 binary/sample_90.cubin.gz
