ridge diagnose --markdown ../../examples/reports/transpose_conflict.ncu-rep
