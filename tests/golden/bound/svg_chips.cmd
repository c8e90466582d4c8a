d=$(mktemp -d); ridge bound gemm m=16,4096 n=6144 k=4096 --gpu h200,a100-sxm-80,h20 --svg "$d/r.svg" >/dev/null; grep -e key -e roof -e letter "$d/r.svg"; rm -r "$d"
