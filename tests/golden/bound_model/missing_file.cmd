ridge bound model models/none.json --gpu h200
