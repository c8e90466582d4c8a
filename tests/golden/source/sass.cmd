ridge source --sass --top 5 ../../examples/reports/rms_norm_narrow.ncu-rep
