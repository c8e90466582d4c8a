ridge inspect --lines --json -k block_sum binary/sample_90.cubin.gz
