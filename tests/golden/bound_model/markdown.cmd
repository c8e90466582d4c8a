ridge bound model models/mixtral-8x7b.json --gpu h200 --markdown
