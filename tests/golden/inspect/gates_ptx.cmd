ridge inspect --max-regs 10 binary/tiny.ptx
