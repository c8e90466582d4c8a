t=$(mktemp -d) && ridge redact ../fuzz/corpus/redact/people.ncu-rep "$t/out" && ls "$t" && grep -c smith "$t/out"; rm -r "$t"
