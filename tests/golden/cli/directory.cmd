ridge kernels .
