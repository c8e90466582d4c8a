ridge bound model models/kimi-linear-48b-a3b.json --gpu h200
