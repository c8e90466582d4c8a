ridge timeline --svg /nowhere/t.svg timeline/graph.json
