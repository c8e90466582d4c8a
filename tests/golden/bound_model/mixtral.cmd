ridge bound model models/mixtral-8x7b.json --gpu h200 --tp 2 --decode --batch 8 --context 2048
