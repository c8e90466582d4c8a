ridge timeline --kernels --bounds timeline/bounds_unused.txt timeline/decode.json | tail -3
