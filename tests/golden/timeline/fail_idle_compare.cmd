ridge timeline --fail-idle 30 timeline/decode.json timeline/graph.json
