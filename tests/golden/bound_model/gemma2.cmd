ridge bound model models/gemma-2-9b.json --gpu h200
