t=$(mktemp -d) && ridge redact --json --drop-sources ../fuzz/corpus/redact/people.ncu-rep "$t/out" | grep -v "\"file\""; rm -r "$t"
