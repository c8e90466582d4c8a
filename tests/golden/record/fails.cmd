folder=$(mktemp -d) && cd "$folder" && touch libcupti.so.13 && ridge record --cupti libcupti.so.13 -- sh -c "exit 7"; status=$?; cd / && rm -r "$folder"; exit $status
