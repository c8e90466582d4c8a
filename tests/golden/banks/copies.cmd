ridge banks 64x64:bf16:+8 cp.async.16
