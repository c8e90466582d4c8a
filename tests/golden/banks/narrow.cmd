COLUMNS=60 ridge banks --solve 64x64:bf16 cp.async.16 row ldmatrix.x4 ldmatrix.x4.trans ldmatrix-b | sed -n '/^Layout/,/^$/p'; COLUMNS=80 ridge banks --picture 64x128:bf16:136 ld.2 token-strided
