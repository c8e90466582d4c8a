ridge diagnose --kernel gemm ../../examples/reports/transpose_conflict.ncu-rep
