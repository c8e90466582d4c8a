ridge inspect binary/recursive_80.cubin.gz && ridge inspect --max-local 0 binary/recursive_80.cubin.gz
