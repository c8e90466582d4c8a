ridge source --by conflict --sass --lines ../../examples/reports/transpose_conflict.ncu-rep
