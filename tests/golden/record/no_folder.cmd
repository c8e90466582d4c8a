folder=$(mktemp -d) && cd "$folder" && touch libcupti.so.13 && ridge record --cupti libcupti.so.13 -o no/such.sqlite -- true; status=$?; cd / && rm -r "$folder"; exit $status
