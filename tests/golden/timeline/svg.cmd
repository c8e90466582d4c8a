svg=$(mktemp -d)/t.svg; ridge timeline --svg "$svg" timeline/graph.json >/dev/null && cat "$svg"; rm -r "${svg%/*}"
