ridge inspect --markdown --baseline binary/baseline.json --max-regs 32 binary/sample_90.cubin.gz
