ridge timeline --window 3s..4s timeline/decode.json
