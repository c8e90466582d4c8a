ridge banks --json --from-report ../../examples/reports/transpose_conflict.ncu-rep --pc 002d0
