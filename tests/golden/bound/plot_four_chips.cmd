ridge bound gemm m=64 n=64 k=64 --gpu h200,h20,t4,l4 --plot
