ridge bound gemm m=1,16,64,256,8192 n=6144 k=4096 --gpu h200 --measured bound/h200.json
