#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh code|table FOLDER: what can be checked of the bank cases without a GPU; FOLDER holds
# bank_patterns and bank_compare. code: each kernel of wavefronts.cu holds exactly the shared-memory
# access that it is named after (needs nvcc). table: the model equals every recorded measurement
# (bench/results/banks_h200.tsv). Exit status 77: skipped.
set -eu
[ $# -eq 2 ] || { echo 'usage: check.sh code|table FOLDER' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $1 in
code)
    nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) ||
        { echo 'skipped: no nvcc' && exit 77; }
    "$nvcc" -std=c++17 -O2 -arch=sm_90a -cubin -o "$work/wavefronts.cubin" "$here/wavefronts.cu"
    "$2/bank_compare" --code "$work/wavefronts.cubin"
    ;;
table)
    table=$here/../results/banks_h200.tsv
    [ -f "$table" ] || { echo "skipped: no $table" && exit 77; }
    "$2/bank_patterns" >"$work/cases.tsv"
    "$2/bank_compare" --table "$table" "$work/cases.tsv"
    ;;
*)
    echo "check.sh: unknown check '$1'" >&2
    exit 2
    ;;
esac
