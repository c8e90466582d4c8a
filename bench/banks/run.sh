#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh FOLDER [CASES_A_REPORT]: runs the bank cases on the GPU of this machine and compares them
# with the model. Needs nvcc, ncu with permission to read counters, and a C compiler with cmake.
# FOLDER gets the cases (cases.tsv), the reports (NNN.ncu-rep), the table (wavefronts.tsv) and the
# summary (summary.txt). What is there already is not run again, so that a run that was stopped goes
# on. Exit status: 0 the model equals the hardware, 1 it does not.
#
# RIDGE_ARCH (sm_90a) is the architecture, RIDGE_BUILD (FOLDER/build) where patterns and compare are
# or will be built.
set -eu
[ $# -ge 1 ] || { echo 'usage: run.sh FOLDER [CASES_A_REPORT]' >&2; exit 2; }
folder=$1
lines=${2:-200}
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$folder"
build=${RIDGE_BUILD:-$folder/build}

if [ ! -x "$build/bench/bank_compare" ]; then
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DRIDGE_TESTS=OFF >"$folder/build.log"
    cmake --build "$build" --target bank_patterns bank_compare >>"$folder/build.log"
fi
for kind in cubin ''; do
    nvcc -std=c++17 -O2 "-arch=${RIDGE_ARCH:-sm_90a}" ${kind:+-$kind} \
        -o "$folder/wavefronts${kind:+.$kind}" "$root/bench/banks/wavefronts.cu"
done
"$build/bench/bank_compare" --code "$folder/wavefronts.cubin" >"$folder/code.tsv"

"$build/bench/bank_patterns" >"$folder/cases.tsv"
rm -f "$folder"/part.*
split -a 3 -d -l "$lines" "$folder/cases.tsv" "$folder/part."
for part in "$folder"/part.*; do
    report=$folder/${part##*.}.ncu-rep
    [ ! -s "$report" ] || continue
    ncu --clock-control none --cache-control none --import-source no \
        --metrics inst_executed,memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum \
        --force-overwrite --export "$folder/running.ncu-rep" "$folder/wavefronts" "$part" \
        >"$folder/ncu.log" 2>&1 || { tail -n 5 "$folder/ncu.log" >&2; exit 4; }
    mv "$folder/running.ncu-rep" "$report"
done

status=0
"$build/bench/bank_compare" "$folder/cases.tsv" "$folder"/[0-9]*.ncu-rep \
    >"$folder/wavefronts.tsv" 2>"$folder/summary.txt" || status=$?
cat "$folder/summary.txt"
exit $status
