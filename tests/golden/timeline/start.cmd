ridge timeline timeline/start.json
