folder=$(mktemp -d) && cd "$folder" && touch true.sqlite libcupti.so.13 && ridge record --cupti libcupti.so.13 -- true; status=$?; cd / && rm -r "$folder"; exit $status
