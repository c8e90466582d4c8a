ridge timeline timeline/rank1.json timeline/rank0.json
