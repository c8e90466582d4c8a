ridge timeline --steps 1..2 --kernels timeline/decode.json
