ridge bound model models/llama-3-8b.json --gpu h200 --decode --batch 16 --context 4096 --weights int4 --kv fp8
