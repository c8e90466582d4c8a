ridge timeline --range 'ProfilerStep.*' --instance 3..9 timeline/rank0.json timeline/rank1.json
