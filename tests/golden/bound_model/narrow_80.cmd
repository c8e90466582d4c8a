COLUMNS=80 ridge bound model models/llama-3-8b.json --gpu h200 -c 8192 -d -b 64
