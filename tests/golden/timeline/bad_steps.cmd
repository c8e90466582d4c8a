ridge timeline --steps a..b timeline/decode.json
