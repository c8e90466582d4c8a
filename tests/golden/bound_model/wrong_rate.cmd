ridge bound model models/llama-3-8b.json --gpu h200 --bandwidth 2.0TB
