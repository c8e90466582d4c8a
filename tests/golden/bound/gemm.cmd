ridge bound gemm m=8192 n=6144 k=4096 dtype=bf16 --gpu a100
