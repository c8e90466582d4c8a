ridge timeline timeline/xla.json
