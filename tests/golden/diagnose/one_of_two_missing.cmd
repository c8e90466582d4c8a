ridge diagnose ../fuzz/corpus/report/w10.ncu-rep no_such_file.ncu-rep
