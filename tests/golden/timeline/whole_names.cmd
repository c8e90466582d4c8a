ridge timeline --whole-names --kernels timeline/alloc.sqlite
