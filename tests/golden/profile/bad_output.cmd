ridge profile -o x.txt -- true
