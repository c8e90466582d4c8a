ridge source ../../examples/reports/rms_norm_narrow.ncu-rep
