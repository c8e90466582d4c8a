ridge timeline timeline/decode.json timeline/graph.json
