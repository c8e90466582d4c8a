ridge inspect --manifest block_sum binary/sample_90.cubin.gz
