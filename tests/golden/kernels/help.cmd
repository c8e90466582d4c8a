ridge kernels --help
