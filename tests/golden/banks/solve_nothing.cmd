ridge banks --solve 64x128:bf16
