ridge diagnose ../../examples/reports/rms_norm_narrow.ncu-rep
