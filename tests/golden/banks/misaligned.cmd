ridge banks 64x128:bf16:130 cp.async.16
