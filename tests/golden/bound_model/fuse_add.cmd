ridge bound model models/llama-3-8b.json --gpu a100 --bandwidth 2.0TB/s --fuse-add | head -13
