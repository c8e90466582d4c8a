ridge banks --solve 64x128:bf16 ld.2 --svg x.svg
