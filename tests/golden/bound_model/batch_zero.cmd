ridge bound model models/llama-3-8b.json --gpu h200 --decode --context 1 --batch 0
