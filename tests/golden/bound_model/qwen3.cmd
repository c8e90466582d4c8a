ridge bound model models/qwen3-8b.json --gpu h200 --tokens 2048 --context 6144
