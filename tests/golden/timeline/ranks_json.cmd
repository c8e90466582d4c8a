ridge timeline --ranks --json --gaps 0 timeline/rank1.json timeline/rank0.json | head -40
