ridge redact ../fuzz/corpus/redact/people.ncu-rep no/such/folder/out
