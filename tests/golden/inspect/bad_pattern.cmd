ridge inspect -k "(" binary/sample_90.cubin.gz 2>/dev/null
