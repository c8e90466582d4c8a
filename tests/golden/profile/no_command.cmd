ridge profile -o x.ncu-rep
