ridge timeline timeline/loader.json
