ridge timeline timeline/exposed.json
