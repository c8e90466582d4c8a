ridge timeline timeline/truncated.json
