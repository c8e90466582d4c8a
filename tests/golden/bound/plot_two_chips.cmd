ridge bound gemm m=64 n=64 k=64 --gpu h200,a100-sxm-80 --plot
