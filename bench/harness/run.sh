#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [BUILD [SECONDS]]: the self-tests of the measuring loop on the GPU of this machine, in two
# processes with different seeds. Writes the table to stdout and a line for each session to
# harness-1.jsonl and harness-2.jsonl.
set -eu
build=${1:-build/release}
seconds=${2:-600}
nvidia-smi --query-gpu=name,driver_version,power.limit,clocks.sm,clocks.max.sm --format=csv,noheader
broken=0
for seed in 1 2; do
    echo "self_test --device cuda --seconds $((seconds / 2)) --sessions 20 --seed $seed"
    "$build/bench/harness_self_test" --device cuda --seconds $((seconds / 2)) --sessions 20 \
        --seed "$seed" --lines "harness-$seed.jsonl" || broken=$?
done
exit "$broken"
