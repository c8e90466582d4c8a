ridge diff ../../examples/reports/transpose_conflict.ncu-rep ../../examples/reports/transpose_conflict.ncu-rep
