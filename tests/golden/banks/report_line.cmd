ridge banks --from-report ../../examples/reports/transpose_conflict.ncu-rep --line kernels.cu:1
