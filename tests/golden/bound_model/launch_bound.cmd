ridge bound model models/llama-3-8b.json --measured models/roofs_with_launch.json --tokens 512
