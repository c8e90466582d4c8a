ridge diff ../fuzz/corpus/report/w05.ncu-rep ../fuzz/corpus/report/h01.ncu-rep
