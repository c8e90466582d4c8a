ridge bound gemm m=1 n=1 k=1 dtype=f16 --dtype bf16
