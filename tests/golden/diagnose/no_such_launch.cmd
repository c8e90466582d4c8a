ridge diagnose --launch 1 ../../examples/reports/transpose_conflict.ncu-rep
