ridge banks 16x128:fp32:132 ld.16 quarter-rows
