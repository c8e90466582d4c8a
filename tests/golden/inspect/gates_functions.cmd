ridge inspect --max-local 0 binary/functions.o.gz; ridge inspect --max-local 264 binary/functions.o.gz; ridge inspect --max-regs 24 binary/functions.o.gz
