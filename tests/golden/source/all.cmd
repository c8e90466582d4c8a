ridge source --all ../../examples/reports/transpose_conflict.ncu-rep
