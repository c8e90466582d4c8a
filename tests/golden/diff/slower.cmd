ridge diff --fail-slower 5 ../../examples/reports/rms_norm_wide.ncu-rep ../../examples/reports/rms_norm_narrow.ncu-rep >/dev/null
