ridge bound model models/llama-3-8b.json --gpu-file chips/h20_lab.json --measured bound/h20.json | head -3
