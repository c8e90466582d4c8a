ridge bound gemm m=1 n=1 k=1 --gpu a100 --measured bound/h200.json
