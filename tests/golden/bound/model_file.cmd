ridge bound models/llama-3-8b.json
