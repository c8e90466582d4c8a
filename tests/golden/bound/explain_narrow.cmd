COLUMNS=80 ridge bound gemm
