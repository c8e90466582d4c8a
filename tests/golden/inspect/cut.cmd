d=$(mktemp -d); gzip -dc binary/sample_90.cubin.gz >"$d/whole"; head -c 20000 "$d/whole" >"$d/cut.cubin"; cd "$d"; ridge inspect cut.cubin; echo $?; rm -r "$d"
