ridge timeline --steps 1..9 timeline/decode.json timeline/graph.json | head -9
