ridge bound gemm m=1:4096:x16 n=6144 k=4096 --gpu a100,h100,h20
