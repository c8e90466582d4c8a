ridge banks 64x64:fp32 ld.16 row lanes=0x01010101
