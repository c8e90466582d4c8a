d=$(mktemp -d); ridge banks 64x128:bf16:136 ld.2 token-strided --svg "$d/p.svg" >/dev/null; cat "$d/p.svg"; rm -r "$d"
