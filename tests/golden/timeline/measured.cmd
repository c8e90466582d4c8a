ridge timeline --bounds timeline/bounds.txt --gpu a100 --kernels timeline/decode.json
