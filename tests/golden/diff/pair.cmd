ridge diff ../../examples/reports/rms_norm_narrow.ncu-rep ../../examples/reports/rms_norm_wide.ncu-rep
