ridge timeline --json --gaps 0 timeline/truncated.json | head -21
