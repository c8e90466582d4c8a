ridge bound model models/llama-3-8b.json --bandwidth 4.8TB/s | head -10
