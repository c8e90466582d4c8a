ridge bound model models/qwen3-30b-a3b.json --gpu h200 --decode --batch 32 --context 4096
