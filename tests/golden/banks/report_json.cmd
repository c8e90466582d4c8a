ridge banks --json --from-report ../../examples/reports/transpose_conflict.ncu-rep --pc 0x2d0
