ridge timeline --compare --json timeline/decode.json timeline/graph.json
