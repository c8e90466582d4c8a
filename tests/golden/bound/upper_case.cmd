ridge bound gemm M=8 N=8 K=8 --gpu h200
