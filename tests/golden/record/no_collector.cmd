RIDGE_COLLECT=/no/such/library.so ridge record -- true
