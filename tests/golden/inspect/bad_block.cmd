ridge inspect --occupancy 2048 binary/sample_90.cubin.gz
