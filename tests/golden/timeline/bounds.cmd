ridge timeline --bounds timeline/bounds.txt --kernels timeline/decode.json
