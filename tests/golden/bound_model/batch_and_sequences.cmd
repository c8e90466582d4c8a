ridge bound model models/llama-3-8b.json --gpu h200 --batch 4 --sequences 4
