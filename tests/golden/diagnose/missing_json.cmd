ridge diagnose --json ../fuzz/corpus/report/metrics.ncu-rep
