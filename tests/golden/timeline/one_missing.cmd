ridge timeline timeline/decode.json timeline/none.json --ranks
