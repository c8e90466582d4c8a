ridge bound gemm m=1:64:+1 n=1:64:+1 k=1,2
