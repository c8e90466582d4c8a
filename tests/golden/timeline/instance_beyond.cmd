ridge timeline --range 'ProfilerStep.*' --instance 2..9 --nvtx timeline/decode.json
