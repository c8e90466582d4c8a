ridge bound model models/llama-3-8b.json --gpu h200 --decode --tokens 4 --context 1
