ridge bound gemm m=4096,1 n=6144 k=4096 --gpu h200 | tail -1
