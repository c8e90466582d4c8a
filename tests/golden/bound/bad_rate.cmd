ridge bound gemm m=1 n=1 k=1 --bandwidth 2.0Tb/s
