COLUMNS=60 ridge bound gemm m=1,64 n=8 k=8 --gpu h200,a100-sxm-80 dtype=bf16,fp8 --measured bound/h200.json
