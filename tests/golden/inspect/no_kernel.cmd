ridge inspect -k no_such binary/sample_90.cubin.gz
