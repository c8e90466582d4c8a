d=$(mktemp -d); sed "s/NVIDIA H200/a chip of mine/" bound/h200.json >"$d/r.json"; cd "$d"; ridge bound copy elements=1 --gpu h200 --measured r.json; s=$?; rm -r "$d"; exit $s
