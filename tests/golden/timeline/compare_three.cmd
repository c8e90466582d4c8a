ridge timeline --compare timeline/decode.json
