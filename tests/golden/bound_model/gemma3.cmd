ridge bound model models/gemma-3-12b.json --gpu h200 --decode --batch 4 --context 32768
