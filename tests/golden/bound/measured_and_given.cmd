ridge bound gemm m=64 n=6144 k=4096 --gpu h200 --measured bound/h200.json --bandwidth 4TB/s
