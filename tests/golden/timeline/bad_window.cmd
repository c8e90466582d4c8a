ridge timeline --window 3..1 timeline/decode.json
