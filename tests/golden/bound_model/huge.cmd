ridge bound model models/llama-3-8b.json --gpu h200 --tokens 99999999999999999
