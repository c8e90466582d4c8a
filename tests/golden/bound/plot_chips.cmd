ridge bound gemm m=16,4096 n=6144 k=4096 --gpu h200,a100-sxm-80,h20 --measured bound/h200.json --plot
