ridge timeline --window 10us..200us --kernels timeline/decode.json
