ridge bound --report ../../examples/reports/rms_norm_wide.ncu-rep kda_backward tokens=8192 heads=96
