t=$(mktemp -d) && cp ../fuzz/corpus/redact/people.ncu-rep "$t/in" && ln -s in "$t/out" && ridge redact --force "$t/in" "$t/out"; cmp ../fuzz/corpus/redact/people.ncu-rep "$t/in"; rm -r "$t"
