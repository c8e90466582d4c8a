COLUMNS=72 ridge diagnose ../../examples/reports/transpose_conflict.ncu-rep
