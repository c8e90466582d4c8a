ridge timeline --fail-idle 50 --gaps 1 timeline/decode.json
