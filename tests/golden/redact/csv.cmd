t=$(mktemp -d) && ridge redact raw_page_h200.csv "$t/out"; s=$?; ls "$t"; rm -r "$t"; exit $s
