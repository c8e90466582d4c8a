COLUMNS=60 ridge source --sass ../../examples/reports/transpose_conflict.ncu-rep
