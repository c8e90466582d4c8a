ridge kernels /dev/null
