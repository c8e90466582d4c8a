ridge diagnose --color always ../fuzz/corpus/report/w10.ncu-rep
