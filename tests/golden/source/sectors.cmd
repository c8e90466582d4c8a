ridge source --by sectors --sass ../../examples/reports/transpose_conflict.ncu-rep
