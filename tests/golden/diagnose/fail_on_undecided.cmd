ridge diagnose --fail-on shared_bank_conflict ../fuzz/corpus/report/metrics.ncu-rep >/dev/null
