#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# smoke.sh SELF_TEST: one short round on the CPU device. Its rules may be broken on a busy machine,
# so only that it runs, and that each session has its line, is tested.
set -eu
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
status=0
"$1" --device cpu --seconds 4 --sessions 1 --lines "$lines" || status=$?
[ "$status" -le 1 ] || exit "$status"
count=$(wc -l <"$lines")
[ "$count" -ge 1 ] || { echo 'no session was made' >&2; exit 1; }
python3 -c 'import json, sys
for line in open(sys.argv[1]):
    json.loads(line)' "$lines"
