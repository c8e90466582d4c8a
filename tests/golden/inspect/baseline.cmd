ridge inspect --baseline binary/baseline.json binary/sample_90.cubin.gz
