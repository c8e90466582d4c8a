ridge diagnose --all ../../examples/reports/transpose_conflict.ncu-rep
