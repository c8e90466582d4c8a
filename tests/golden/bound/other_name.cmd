ridge bound matmul m=1 n=1 k=1
