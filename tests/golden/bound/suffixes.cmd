ridge bound --bytes 1GiB --flop 1T --gpu h200 | head -3; ridge bound model models/llama-3-8b.json --gpu h200 -d -c 8Ki | sed -n 3p
