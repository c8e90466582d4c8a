ridge kernels --all -- --json
