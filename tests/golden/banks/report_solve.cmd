ridge banks --solve --from-report ../../examples/reports/transpose_conflict.ncu-rep
