ridge inspect --mix -k block_sum binary/sample_90.cubin.gz
