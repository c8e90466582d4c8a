ridge source --by samples --top 3 ../../examples/reports/rms_norm_wide.ncu-rep
