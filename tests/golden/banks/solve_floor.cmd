ridge banks --solve 64x128:bf16 cp.async.16 row ld.2 token-strided
