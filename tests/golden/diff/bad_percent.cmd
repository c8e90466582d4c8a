ridge diff --fail-slower -1 ../../examples/reports/rms_norm_wide.ncu-rep ../../examples/reports/rms_norm_narrow.ncu-rep
