ridge timeline --kernels --api --nvtx --gaps 4 --streams timeline/alloc.sqlite
