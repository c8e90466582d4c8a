ridge inspect --max-regs 64 --max-spill-bytes 368 binary/sample_90.cubin.gz
