ridge bound model models/README.md --gpu h200
