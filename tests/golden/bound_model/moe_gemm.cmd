ridge bound moe_gemm tokens=1,32,1024 experts=256 top_k=8 n=4096 k=7168 dtype=fp8 --gpu h200
