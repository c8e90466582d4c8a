ridge diagnose --workload add_rms_norm:65536x4096:bf16 ../../examples/reports/rms_norm_wide.ncu-rep
