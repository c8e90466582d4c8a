ridge banks --json 64x128:bf16:xor=row%8*16 ld.2 token-strided
