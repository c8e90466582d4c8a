ridge metrics ../fuzz/corpus/report/w10.ncu-rep 'launch__*'
