#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels.sh RIDGE [cpu|cuda] FAMILY:VARIANT...: checks variants of the tree's families over the
# default cases; on a GPU also under compute-sanitizer where that is there. Prints a line a variant.
# Exits 77 where the device is not there.
set -eu
[ $# -ge 3 ] || { echo 'usage: kernels.sh RIDGE [cpu|cuda] FAMILY:VARIANT...' >&2; exit 2; }
ridge=$1 device=$2
shift 2
# shellcheck source=tests/gpu/device.sh
. "$(dirname "$0")/device.sh"

sanitizer=
if [ "$device" = cuda ] && command -v compute-sanitizer >/dev/null; then sanitizer=--sanitizer; fi
failed=0
for kernel; do
    status=0
    "$ridge" check "$kernel" --device "$device" ${sanitizer:+"$sanitizer"} </dev/null || status=$?
    [ $status -eq 0 ] || failed=$((failed + 1))
done
[ $failed -eq 0 ]
