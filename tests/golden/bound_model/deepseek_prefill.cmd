ridge bound model models/deepseek-v3.json --gpu h200 --tp 8
