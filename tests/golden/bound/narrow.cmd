COLUMNS=60 ridge bound gemm m=1,4096 n=6144 k=4096 --gpu h200 --measured bound/h200.json --plot
