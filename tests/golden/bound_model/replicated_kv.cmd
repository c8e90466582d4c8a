ridge bound model models/llama-3-70b.json --gpu h200 --tp 16 --decode --batch 64 --context 8192 | head -13
