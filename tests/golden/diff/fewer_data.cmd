ridge diff ../fuzz/corpus/report/w05.ncu-rep ../fuzz/corpus/report/metrics.ncu-rep
