ridge bound model models/llama-3-70b.json --gpu h100-sxm | sed -n 6p
