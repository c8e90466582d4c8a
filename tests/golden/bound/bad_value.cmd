ridge bound gemm m=1.5 n=1 k=1
