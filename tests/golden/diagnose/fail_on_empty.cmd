ridge diagnose --fail-on , ../../examples/reports/transpose_conflict.ncu-rep
