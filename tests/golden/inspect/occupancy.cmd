ridge inspect --occupancy 256,48KiB --gpu h200 binary/sample_90.cubin.gz
