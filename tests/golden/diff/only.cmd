ridge diff repeated_launches.csv ../fuzz/corpus/report/w02.ncu-rep
