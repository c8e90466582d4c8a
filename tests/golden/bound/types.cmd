ridge bound gemm m=64 n=4096 k=4096 dtype=bf16,fp8 --gpu h200
