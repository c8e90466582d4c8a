t=$(mktemp -d) && head -c 2000 ../fuzz/corpus/redact/people.ncu-rep >"$t/cut" && ridge redact "$t/cut" "$t/out" 2>&1 | sed "s,$t,T,"; ls "$t"; rm -r "$t"
