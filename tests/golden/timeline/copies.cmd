ridge timeline timeline/copies.json
