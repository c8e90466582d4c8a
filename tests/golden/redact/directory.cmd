ridge redact ../fuzz/corpus/redact/people.ncu-rep .
