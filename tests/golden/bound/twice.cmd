ridge bound gemm m=1 m=2 n=1 k=1
