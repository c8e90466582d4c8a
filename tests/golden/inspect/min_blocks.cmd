ridge inspect --min-blocks 2 --gpu h200 --occupancy 256,100KiB binary/sample_90.cubin.gz
