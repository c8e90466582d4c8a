ridge bound --gpu h200 model models/llama-3-8b.json
