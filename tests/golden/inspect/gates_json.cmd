ridge inspect --max-regs 32 --json binary/sample_90.cubin.gz
