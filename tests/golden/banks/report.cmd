ridge banks --from-report ../../examples/reports/transpose_conflict.ncu-rep
