#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh RIDGE FOLDER [DEVICE]: the campaign of docs/guide/the-campaign.md, from nvcc to the page of
# evidence, in less than a minute. DEVICE is cuda (the default), cuda:N, or none: then it stops before
# anything is launched. FOLDER, which must not be there yet, gets ladder.ledger, log.txt (every
# command with what it printed) and evidence.md. The first command that fails ends it.
set -euo pipefail

fail() {
    echo "run.sh: $1" >&2
    exit 1
}

[ $# -eq 2 ] || [ $# -eq 3 ] || { echo 'usage: run.sh RIDGE FOLDER [cuda[:N]|none]' >&2 && exit 2; }
ridge=$(command -v "$1") || fail "no program '$1'"
ridge=$(realpath "$ridge")
folder=$2
device=${3-cuda}
nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || fail "no nvcc on PATH or in /usr/local/cuda/bin"
arch=${RIDGE_CAMPAIGN_ARCH-}
if [ -z "$arch" ]; then
    arch=90
    if [ "$device" != none ] && command -v nvidia-smi >/dev/null; then
        arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
    fi
fi

mkdir "$folder" || fail "the folder '$folder' must be a new one"
cp "$(dirname "$0")"/{conflicts.cu,reference.json,stride_128.json,stride_136.json,stride_130.json} "$folder"
cd "$folder"
export RIDGE_LEDGER=ladder.ledger
unset COLUMNS NO_COLOR

# The command as one would type it.
shown() {
    local word
    printf '\n$ %s' "$(basename "$1")"
    for word in "${@:2}"; do
        case $word in
        *[!A-Za-z0-9_./:=,+-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
}

# Shows a command, runs it with its output in log.txt as well; a status that was not expected ends all.
expect() {
    local wanted=$1 status=0
    shift
    shown "$@" | tee -a log.txt
    "$@" 2>&1 | tee -a log.txt || status=${PIPESTATUS[0]}
    [ "$status" -eq "$wanted" ] || fail "'$(basename "$1") ${*:2}' ended with $status, expected $wanted: see $folder/log.txt"
}
run() { expect 0 "$@"; }
build_of() { "$ridge" ledger query --csv "SELECT substr(build_id, 1, 8) FROM step WHERE seq = $1" | tail -n 1; }

# Opens the step's kernel, and looks whether it is right before it is timed.
build_and_check() {
    run "$ridge" step build "$1"
    [ "$device" = none ] || run "$ridge" check "$1" --device "$device" --case blocks=132,iterations=20
}

run "$nvcc" -cubin "-arch=sm_$arch" -lineinfo -o conflicts.cubin conflicts.cu
run "$ridge" inspect conflicts.cubin
for stride in 128 136 130; do
    run "$ridge" banks "64x128:bf16:$stride" ld.2 token-strided
done

run "$ridge" step start --campaign 'conflict ladder' --goal 'no bank conflict in the walk over tokens' \
    'rows of 128 elements'
build_and_check stride_128.json
run "$ridge" step keep 'where it starts'

run "$ridge" step start --predict 8x --why '32 wavefronts a load become 4, and they are the wall' \
    'rows of 136 elements'
expect 2 "$ridge" step build stride_128.json # was it rebuilt?
build_and_check stride_136.json
[ "$device" != none ] || { echo "run.sh: stops here, nothing is launched without a device" && exit 0; }
run "$ridge" compare --device "$device" stride_128.json stride_136.json
run "$ridge" step keep

run "$ridge" step start --predict 2x \
    --why '4 wavefronts become 1, but instruction issue is the next wall: not 4 times' \
    'rows of 130 elements'
build_and_check stride_130.json
run "$ridge" compare --device "$device" stride_136.json stride_130.json
run "$ridge" step keep

# Every kept step again with another seed, and the campaign's claim, from the archived binaries alone.
rm conflicts.cubin ./*.json
first=$(build_of 1) second=$(build_of 2) last=$(build_of 3)
run "$ridge" compare --device "$device" --seed 2 "build:$first" "build:$second"
run "$ridge" compare --device "$device" --seed 2 "build:$second" "build:$last"
run "$ridge" compare --device "$device" "build:$first" "build:$last"
run "$ridge" ledger log
run "$ridge" ledger chain
run "$ridge" evidence
"$ridge" evidence >evidence.md
echo "run.sh: done: $folder/ladder.ledger, log.txt, evidence.md"
