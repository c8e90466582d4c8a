ridge timeline --bounds timeline/decode.json timeline/decode.json
