t=$(mktemp -d) && head -c 4000 ../fuzz/corpus/nsys/people >"$t/in" && ridge redact "$t/in" "$t/out" 2>&1 | sed "s|$t|T|"; ls "$t"; rm -r "$t"
