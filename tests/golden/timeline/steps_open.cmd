ridge timeline --steps 2.. --streams timeline/decode.json
