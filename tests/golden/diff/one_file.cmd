ridge diff ../../examples/reports/rms_norm_wide.ncu-rep
