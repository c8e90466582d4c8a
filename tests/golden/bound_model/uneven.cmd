ridge bound model models/llama-3-8b.json --gpu h200 --tokens 100 --batch 3
