ridge occupancy --gpu h200,a100 -t 32; ridge bound model models/llama-3-8b.json --gpu h200,a100
