ridge diagnose --bytes many ../../examples/reports/rms_norm_narrow.ncu-rep
