ridge bound --report ../../examples/reports/rms_norm_wide.ncu-rep --measured bound/a100.json
