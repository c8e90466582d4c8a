ridge source --json --top 2 --sass --lines ../../examples/reports/transpose_conflict.ncu-rep
