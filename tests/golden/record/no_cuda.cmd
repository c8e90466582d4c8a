folder=$(mktemp -d) && cd "$folder" && touch libcupti.so.13 && ridge record --cupti libcupti.so.13 -- echo its output; status=$?; ls; cd / && rm -r "$folder"; exit $status
