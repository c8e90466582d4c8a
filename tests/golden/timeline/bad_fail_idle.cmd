ridge timeline --fail-idle 101 timeline/decode.json
