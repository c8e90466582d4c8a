d=$(mktemp -d); ridge bound gemm m=1,64,4096 n=6144 k=4096 --gpu h200 --measured bound/h200.json --svg "$d/r.svg" >/dev/null; cat "$d/r.svg"; rm -r "$d"
