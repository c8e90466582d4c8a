ridge timeline timeline/prefill.json
