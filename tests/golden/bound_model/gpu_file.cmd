ridge bound model models/qwen2-7b.json --gpu-file chips/h20_lab.json | head -7
