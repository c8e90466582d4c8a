ridge timeline timeline/begin_end.json
