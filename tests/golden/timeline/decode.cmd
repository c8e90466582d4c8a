ridge timeline timeline/decode.json
