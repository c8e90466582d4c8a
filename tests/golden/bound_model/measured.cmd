ridge bound model models/llama-3-8b.json --measured bound/h200.json | head -7
