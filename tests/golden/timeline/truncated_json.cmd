ridge timeline --json --gaps 0 timeline/truncated.json | sed -n 1,21p
