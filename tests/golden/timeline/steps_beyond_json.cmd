ridge timeline --steps 0..99 --json timeline/decode.json | sed -n '/"window"/,/}/p'
