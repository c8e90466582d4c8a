d=$(mktemp -d); (cat ../fuzz/corpus/report/w02.ncu-rep && printf '\0\0\0\0') >"$d/damaged.ncu-rep"; cd "$d"; ridge kernels -k zzz damaged.ncu-rep; status=$?; rm -r "$d"; exit $status
