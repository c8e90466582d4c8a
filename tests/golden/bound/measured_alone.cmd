ridge bound gemm m=8192 n=8192 k=8192 --measured bound/h200.json
