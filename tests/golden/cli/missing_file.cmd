ridge kernels no/such/file.ncu-rep
