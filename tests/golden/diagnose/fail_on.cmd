ridge diagnose --fail-on shared_bank_conflict,launch_overhead ../../examples/reports/transpose_conflict.ncu-rep >/dev/null
