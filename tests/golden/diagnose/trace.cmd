ridge diagnose timeline/decode.json
