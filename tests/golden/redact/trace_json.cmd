t=$(mktemp -d) && ridge redact --json ../fuzz/corpus/nsys/people "$t/out.sqlite" | grep -v "\"file\""; rm -r "$t"
