ridge diagnose --fail-on no_such_finding ../../examples/reports/transpose_conflict.ncu-rep
