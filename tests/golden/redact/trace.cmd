t=$(mktemp -d) && ridge redact ../fuzz/corpus/nsys/people "$t/out.sqlite" && ls "$t" && grep -c -a -e smith -e wintermute -e hunter22 -e 203.0.113 "$t/out.sqlite"; rm -r "$t"
