ridge bound model models/llama-3-8b.json --gpu 9.0 | head -9
