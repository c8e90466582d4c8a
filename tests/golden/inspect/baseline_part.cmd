ridge inspect --baseline binary/baseline.json -k block_sum binary/sample_90.cubin.gz
