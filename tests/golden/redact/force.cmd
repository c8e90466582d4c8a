t=$(mktemp -d) && echo mine >"$t/out" && ridge redact --force ../fuzz/corpus/redact/people.ncu-rep "$t/out" >"$t/said" && head -c 3 "$t/out"; rm -r "$t"
