ridge diagnose --json ../../examples/reports/transpose_conflict.ncu-rep
