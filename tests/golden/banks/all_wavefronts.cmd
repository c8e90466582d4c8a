ridge banks --all 32x32:fp32 ld.4 transposed
