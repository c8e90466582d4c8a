ridge timeline --steps 1 timeline/copies.json
