ridge bound model models/kimi-linear-48b-a3b.json --gpu h200 --decode --batch 16 --context 131072
