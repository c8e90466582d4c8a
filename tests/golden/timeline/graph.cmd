ridge timeline timeline/graph.json
