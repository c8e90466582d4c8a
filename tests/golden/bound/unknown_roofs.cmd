ridge bound gemm m=64 n=64 k=64 --gpu 9.0
