ridge timeline --window 340us..360us timeline/decode.json
