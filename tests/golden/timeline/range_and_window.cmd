ridge timeline --range a --window 1..2 timeline/decode.json
