ridge timeline --svg timeline/README.md timeline/graph.json
