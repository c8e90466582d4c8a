ridge diagnose --bytes 1GiB ../../examples/reports/rms_norm_wide.ncu-rep
