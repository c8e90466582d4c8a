ridge kernels ../fuzz/corpus/report/w05.ncu-rep
