ridge bound gemm m=1 n=1 k=1 --gpu h200 --bandwidth 2
