ridge bound gemm m=1
