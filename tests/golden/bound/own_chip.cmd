ridge bound gemm m=4096 n=4096 k=4096 --gpu h200 --gpu-file chips/h20_lab.json
