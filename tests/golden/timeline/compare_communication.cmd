ridge timeline --compare timeline/rank0.json timeline/rank1.json
