ridge bound model models/deepseek-v3.json --gpu h200 --tp 8 --decode --batch 64 --context 4096
