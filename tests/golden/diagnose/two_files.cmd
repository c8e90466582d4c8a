ridge diagnose ../../examples/reports/rms_norm_wide.ncu-rep ../fuzz/corpus/report/w10.ncu-rep
