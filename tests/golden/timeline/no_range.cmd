ridge timeline --range ProfilerStop#1 timeline/decode.json
