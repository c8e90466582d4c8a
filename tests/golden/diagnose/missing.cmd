ridge diagnose ../fuzz/corpus/report/metrics.ncu-rep
