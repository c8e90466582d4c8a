ridge timeline --fail-idle 95 --gaps 1 timeline/decode.json
