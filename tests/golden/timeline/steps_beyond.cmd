ridge timeline --steps 0..99 --streams timeline/decode.json
