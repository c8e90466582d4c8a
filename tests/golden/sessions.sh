#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sessions.sh [--update] RIDGE FILE...
# A session in a document is a code block that begins with "$ ./ridge ...". Each line below the
# command must stand in what the command prints now, in that order: excerpts are allowed, output
# that is no longer true is not. --update replaces the blocks by what the command prints, up to as
# many lines as the block had when it was cut short.
set -eu
update=false
[ "$1" != --update ] || { update=true && shift; }
ridge=$(CDPATH='' cd -P -- "$(dirname "$1")" && pwd)/$(basename "$1")
shift
for name in $(sh "$(dirname "$0")/../environment.sh"); do
    unset "$name"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LC_ALL=C
RIDGE_LEDGER=$work/ridge.ledger
SOURCE_DATE_EPOCH=1772355600
export LC_ALL RIDGE_LEDGER SOURCE_DATE_EPOCH
status=0 sessions=0
for file in "$@"; do
    # Each session becomes two files: N.command and N.expected.
    rm -f "$work"/*
    awk -v work="$work" '
        /^```/ { inside = !inside; first = inside; session = 0; next }
        inside && first && /^\$ \.\/ridge / {
            session = 1; n = sprintf("%03d", n + 1) # in the order of the document
            print substr($0, 11) >(work "/" n ".command")
            printf "" >(work "/" n ".expected")
        }
        inside && session && !first { print >(work "/" n ".expected") }
        { first = 0 }
    ' "$file"
    for command in "$work"/*.command; do
        [ -f "$command" ] || continue
        sessions=$((sessions + 1))
        # Words as a shell takes them, but for patterns.
        (set -f && eval "set -- $(cat "$command")" && "$ridge" "$@") 2>&1 | sed "s|$work/||g" >"$work/found" || true
        expected=${command%.command}.expected
        $update && cp "$work/found" "$expected.found"
        awk -v file="$file" -v command="$(cat "$command")" '
            NR == FNR { found[FNR] = $0; count = FNR; next }
            $0 == "" || $0 == "..." { next }
            {
                while (at < count && found[++at] != $0) continue
                if (found[at] != $0) {
                    printf "%s: ridge %s does not print (here): %s\n", file, command, $0
                    exit 1
                }
            }
        ' "$work/found" "$expected" || status=1
    done
    if $update; then
        awk -v work="$work" '
            /^```/ { inside = !inside; first = inside; session = 0; print; next }
            inside && first && /^\$ \.\/ridge / {
                session = 1; n = sprintf("%03d", n + 1); print
                excerpt = work "/" n ".expected"; full = work "/" n ".expected.found"
                wanted = 0; lines = 0
                while ((getline line <excerpt) > 0) wanted++
                while ((getline line <full) > 0) if (++lines <= wanted) print line
            }
            !session { print }
            { first = 0 }
        ' "$file" >"$work/new"
        cat "$work/new" >"$file"
    fi
done
[ $sessions -gt 0 ] || { echo 'no session found' && exit 1; }
$update || [ $status -ne 0 ] || echo "$sessions sessions are as the documents show them"
$update || exit $status
