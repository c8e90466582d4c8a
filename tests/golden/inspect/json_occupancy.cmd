ridge inspect --json --gpu h200 -k spill binary/sample_90.cubin.gz
