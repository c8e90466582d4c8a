ridge redact no_such.ncu-rep out
