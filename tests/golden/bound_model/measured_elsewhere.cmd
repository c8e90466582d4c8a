ridge bound model models/llama-3-8b.json --gpu a100 --measured bound/h200.json
