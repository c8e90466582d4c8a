ridge banks --solve 64x64:bf16 cp.async.16 row ldmatrix.x4 ldmatrix.x4.trans ldmatrix-b
