ridge banks 64x128:bf16:136
