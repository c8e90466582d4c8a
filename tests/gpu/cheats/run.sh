#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh RIDGE PLUGIN HONEST [cpu|cuda] [EXPECTED]: both directions for every cheat of a plug-in:
# its guard catches it, and without its guards it is not caught. HONEST is the library with the
# honest kernel alone. Prints a line a cheat. Exits 77 where the device is not there.
set -eu
[ $# -ge 3 ] || { echo 'usage: run.sh RIDGE PLUGIN HONEST [cpu|cuda] [EXPECTED]' >&2; exit 2; }
ridge=$1 plugin=$2 honest=$3 device=${4:-cpu}
expected=${5:-$(dirname "$0")/expected.tsv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/gpu/device.sh
. "$(dirname "$0")/../device.sh"

# text KEY: the first value of a key of the last answer.
text() {
    sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$work/json" | head -n 1
}

# check ONLY CASE: status of a check with these tests ("" all).
check() {
    status=0
    "$ridge" check "$plugin:$name" --device "$device" --case "dtype=f32,$2" ${1:+--only "$1"} \
        --no-shrink --json >"$work/json" 2>"$work/err" </dev/null || status=$?
    [ $status -le 1 ] || { problem="check ends with $status: $(cat "$work/err")" && return 0; }
}

# compare WITHOUT [CANDIDATE]: verdict and guard of the honest kernel against the cheat.
compare() {
    status=0
    "$ridge" compare "$honest:honest" "${2:-$plugin:$name}" --device "$device" --mode "$mode" \
        --sweep "dtype=f32,$case" ${1:+--without "$1"} --budget 3 --placements 3 --json \
        >"$work/json" 2>"$work/err" </dev/null || status=$?
    verdict=$(text verdict) guard=$(text invalid_guard) cause=$(text invalid_cause)
    [ -n "$verdict" ] || problem="compare ends with $status: $(cat "$work/err")"
}

# others LIST: all tests of a check that are not in LIST.
others() {
    sed -n 's/^ *X([A-Z_]*, "\([a-z0-9]*\)").*/\1/p' "$header" |
        grep -v -x -F "$(printf '%s' "$1" | tr ',' '\n')" | tr '\n' ',' | sed 's/,$//'
}

do_check() {
    if [ "$guards" = - ]; then
        check '' "$case"
        [ -n "$problem" ] || [ $status -eq 0 ] || problem="expected every test to pass, found: $(text text)"
        return 0
    fi
    check "${guards%%,*}" "$case"
    [ -n "$problem" ] || [ $status -eq 1 ] || problem="expected a failed ${guards%%,*} test, found it passed: $(text text)"
    check "$(others "$guards")" "$case"
    [ -n "$problem" ] || [ $status -eq 0 ] || problem="expected all but $guards to pass, found: $(text text)"
    return 0
}

do_cases() {
    check values "$guards"
    [ -n "$problem" ] || [ $status -eq 0 ] || problem="expected right on $guards, found it wrong: $(text text)"
    check values "$case"
    [ -n "$problem" ] || [ $status -eq 1 ] || problem="expected wrong on $case, found it right"
}

do_same() {
    compare '' "$honest:$name"
    [ -n "$problem" ] || [ "$verdict" = IDENTICAL_CODE ] ||
        problem="expected IDENTICAL_CODE, found $verdict"
}

do_compare() {
    without=
    for one in $(printf '%s' "$guards" | tr ',' ' '); do
        compare "$without"
        case "|$one|" in
        *"|${guard:-none}|"*) ;;
        *) [ -n "$problem" ] ||
            problem="expected INVALID by $one${without:+ without $without}, found $verdict${guard:+ by $guard}${cause:+: $cause}" ;;
        esac
        [ -z "$problem" ] || return 0
        without=${without:+$without,}${one%%|*}
    done
    compare "$without"
    [ -n "$problem" ] || [ "$verdict" != INVALID ] ||
        problem="expected no guard to speak without $without, found INVALID by $guard: $cause"
}

# No time for a kernel that is wrong.
do_bench() {
    status=0
    "$ridge" bench "$plugin:$name" --device "$device" --sweep "dtype=f32,$case" --budget 1 --json \
        >"$work/json" 2>"$work/err" </dev/null || status=$?
    guard=$(text invalid_guard)
    [ $status -eq 4 ] && [ "$guard" = "$guards" ] && grep -q '"median_ns": *null' "$work/json" ||
        problem="expected no time by $guards, found status $status${guard:+ by $guard}: $(cat "$work/err")"
}

header=$(dirname "$0")/../../../include/ridge/check.h
failed=0 done=0
while IFS='	' read -r name where command mode guards case _; do
    case $name in '#'* | '') continue ;; esac
    if [ "$where" != both ] && [ "$where" != "$device" ]; then
        continue
    fi
    # What a comparison sees takes time, and a CPU under load leaves a patient cheat too little: such
    # a row has three tries, and says how many it took.
    tries=0
    while :; do
        problem=''
        tries=$((tries + 1))
        "do_$command"
        if [ -z "$problem" ] || [ "$device $command" != 'cpu compare' ] || [ $tries -eq 3 ]; then
            break
        fi
    done
    if [ -n "$problem" ]; then
        failed=$((failed + 1))
        printf '%-8s %-18s %s\n' FAILED "$name" "$problem"
    else
        done=$((done + 1))
        [ $tries -eq 1 ] || guards="$guards, try $tries"
        printf '%-8s %-18s %-8s %s\n' ok "$name" "$command" "$guards"
    fi
done <"$expected"

echo "$done cheats as expected, $failed not"
[ $failed -eq 0 ] && [ $done -gt 0 ]
