ridge bound --report ../../examples/reports/transpose_conflict.ncu-rep transpose rows=8192 columns=8192 dtype=f32 --json
