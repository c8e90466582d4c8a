ridge bound model models/llama-3-8b.json --gpu h200 --tokens 16384 --sequences 4 --all-logits
