ridge bound model models/llama-3-8b.json
