ridge timeline --steps 9 timeline/decode.json
