ridge timeline timeline/none.json
