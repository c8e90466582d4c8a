ridge bound --report ../../examples/reports/rms_norm_narrow.ncu-rep add_rms_norm rows=65536 columns=4096
