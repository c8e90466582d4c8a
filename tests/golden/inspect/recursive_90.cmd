ridge inspect binary/recursive_90.cubin.gz && ridge inspect --max-local 0 binary/recursive_90.cubin.gz
