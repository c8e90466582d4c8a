ridge diff ../../examples/reports/rms_norm_wide.ncu-rep no_such_file.ncu-rep
