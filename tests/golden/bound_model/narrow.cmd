COLUMNS=60 ridge bound model models/llama-3-8b.json --gpu h200
