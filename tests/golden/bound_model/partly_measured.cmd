ridge bound model models/llama-3-8b.json --measured models/roofs_partial.json | head -9
