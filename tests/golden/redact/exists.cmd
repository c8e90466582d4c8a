t=$(mktemp -d) && echo mine >"$t/out" && ridge redact ../fuzz/corpus/redact/people.ncu-rep "$t/out" 2>&1 | sed "s,$t,T,"; cat "$t/out"; rm -r "$t"
