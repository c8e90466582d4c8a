folder=$(mktemp -d) && cd "$folder" && mkfifo in && timeout 300 ridge redact in out; status=$?; cd / && rm -r "$folder"; exit $status
