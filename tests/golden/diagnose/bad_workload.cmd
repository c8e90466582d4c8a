ridge diagnose --workload conv:1x1:f32 ../../examples/reports/rms_norm_narrow.ncu-rep
