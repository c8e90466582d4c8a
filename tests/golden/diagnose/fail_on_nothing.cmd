ridge diagnose --fail-on launch_overhead ../../examples/reports/transpose_conflict.ncu-rep >/dev/null
