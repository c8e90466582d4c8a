ridge kernels
