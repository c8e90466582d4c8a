#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make_ptx.sh [--check]: writes harness_ptx.c from harness_kernels.cu and harness_mma.cu.
# --check compares instead: exit 0 the same, 1 it differs, 77 there is no nvcc or another version
# than the file was made with. NVCC: the compiler, else nvcc of PATH or /usr/local/cuda/bin.
set -eu
cd "$(dirname "$0")"
file=harness_ptx.c
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc || true)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -n "$nvcc" ] || { echo 'make_ptx.sh: no nvcc; set NVCC' >&2; exit 77; }
release=$("$nvcc" --version | sed -n 's/^Cuda compilation tools.*V\([0-9.]*\)$/\1/p')
if [ "${1-}" = --check ] && ! grep -q "nvcc $release," $file; then
    echo "make_ptx.sh: $file was not made by nvcc $release" >&2
    exit 77
fi

# image NAME SM PTX_VERSION SOURCE: the lines of one module. PTX_VERSION is the lowest that the
# instructions allow, so that drivers older than nvcc take it; ptxas says when it is too low.
image() {
    "$nvcc" -ptx -std=c++17 -arch="compute_$2" -I../../include -I.. -o "$work/$1.ptx" "$4"
    sed -i.bak -e "s/^\.version .*/.version $3/" -e '/^[[:space:]]*\/\//d' -e '/^[[:space:]]*$/d' \
        -e 's/^[[:space:]]*//' -e 's/[[:space:]]\{1,\}/ /g' "$work/$1.ptx"
    "$(dirname "$nvcc")/ptxas" -arch="sm_$2" -o "$work/$1.cubin" "$work/$1.ptx"
    echo
    echo "/* $4, sm_$2, PTX $3 */"
    echo "static const char *const $1[] = {"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/    "&",/' "$work/$1.ptx"
    echo '    NULL};'
}

{
    echo '/* SPDX-License-Identifier: Apache-2.0'
    echo ' *'
    echo " * Made by make_ptx.sh with nvcc $release, not to be edited. */"
    echo '/* clang-format off */'
    echo '#include "device/harness.h"'
    image KERNELS 75 6.3 harness_kernels.cu
    image MMA 80 7.0 harness_mma.cu
    echo
    echo 'const char *const *const HARNESS_PTX[HARNESS_MODULES] = {KERNELS, MMA};'
    echo 'const int HARNESS_PTX_SM[HARNESS_MODULES] = {75, 80};'
} >"$work/$file"

if [ "${1-}" = --check ]; then
    diff -u $file "$work/$file" >"$work/diff" || {
        echo "make_ptx.sh: $file is not what its sources give; run make_ptx.sh" >&2
        head -n 20 "$work/diff" >&2
        exit 1
    }
else
    mv "$work/$file" $file
fi
