ridge bound model models/mixtral-8x7b.json --gpu h200 --decode --context 2048 | sed -n 1,8p
