ridge timeline --window 400us..1.2 --gaps 3 timeline/decode.json
