#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels.sh RIDGE [cpu|cuda] CASES FAMILY:VARIANT...: checks variants of the tree's families on
# these cases ('' the default matrix, minutes on a CPU); on a GPU also under compute-sanitizer where that is there. Prints a line a variant.
# Exits 77 where the device is not there.
set -eu
[ $# -ge 4 ] || { echo 'usage: kernels.sh RIDGE [cpu|cuda] CASES FAMILY:VARIANT...' >&2; exit 2; }
ridge=$1 device=$2 cases=$3
shift 3
# shellcheck source=tests/gpu/device.sh
. "$(dirname "$0")/device.sh"

sanitizer=
if [ "$device" = cuda ] && command -v compute-sanitizer >/dev/null; then sanitizer=--sanitizer; fi
failed=0
for kernel; do
    status=0
    "$ridge" check "$kernel" --device "$device" ${cases:+--case "$cases"} \
        ${sanitizer:+"$sanitizer"} </dev/null || status=$?
    [ $status -eq 0 ] || failed=$((failed + 1))
done
[ $failed -eq 0 ]
