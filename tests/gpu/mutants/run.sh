#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh RIDGE PLUGIN [cpu|cuda] [EXPECTED]: checks every kernel of a mutants plug-in and holds the
# cause that is named first against expected.tsv. A kernel without a mistake must pass, one with a
# mistake must fail, and four causes of five must be right. Exits 77 where the device is not there.
set -eu
[ $# -ge 2 ] || { echo 'usage: run.sh RIDGE PLUGIN [cpu|cuda] [EXPECTED]' >&2; exit 2; }
ridge=$1 plugin=$2 device=${3:-cpu}
expected=${4:-$(dirname "$0")/expected.tsv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/gpu/device.sh
. "$(dirname "$0")/../device.sh"

failed=0 asked=0 right=0
while IFS='	' read -r name where cause case note; do
    case $name in '#'* | '') continue ;; esac
    if [ "$where" != both ] && [ "$where" != "$device" ]; then
        printf '%-8s %-18s %s\n' skipped "$name" "$note"
        continue
    fi
    status=0
    "$ridge" check "$plugin:$name" --device "$device" --case "dtype=f32,$case" --no-shrink --json \
        >"$work/json" 2>"$work/err" </dev/null || status=$?
    found=$(sed -n 's/.*"cause_id": *"\([^"]*\)".*/\1/p' "$work/json" | head -n 1)
    words=$(sed -n 's/.*"cause": *"\([^"]*\)".*/\1/p' "$work/json" | head -n 1)
    word=right
    if [ $status -gt 1 ]; then
        word=ERROR words="exit status $status: $(cat "$work/err")"
    elif [ "$cause" = - ]; then
        [ $status -eq 0 ] || word=WRONG words="has no mistake, found: $words"
    elif [ $status -eq 0 ]; then
        word=MISSED words="passed; has the mistake $cause"
    else
        asked=$((asked + 1))
        case "|$cause|" in
        *"|$found|"*) right=$((right + 1)) ;;
        *) word=other words="$found, not $cause: $words" ;;
        esac
    fi
    case $word in ERROR | WRONG | MISSED) failed=$((failed + 1)) ;; esac
    printf '%-8s %-18s %s\n' "$word" "$name" "$words"
done <"$expected"

echo "$right of $asked causes are right, $failed kernels are judged wrong"
[ $failed -eq 0 ] && [ $asked -gt 0 ] && [ $((right * 5)) -ge $((asked * 4)) ]
