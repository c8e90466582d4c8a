COLUMNS=70 ridge timeline timeline/decode.json
