ridge bound kda_backward/B0 tokens=4096 heads=12 --gpu h200 --measured bound/h200.json --json
