ridge timeline --range 'ProfilerStep.*' --instance 1..2 --nvtx timeline/decode.json
