ridge inspect --max-regs 32 --max-spill-bytes 0 --max-local 64 binary/sample_90.cubin.gz
