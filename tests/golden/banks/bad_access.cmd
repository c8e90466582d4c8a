ridge banks 64x128:bf16 ld.3 row
