# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Read by runners that have set ridge and device: exits 77, which CTest shows as skipped, where the
# command or the device is not there.
# shellcheck disable=SC2154 # set by the reader
case $device in
cpu) ;;
cuda)
    if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
        echo 'skipped: no GPU' && exit 77
    fi ;;
*) echo "'$device' is neither cpu nor cuda" >&2 && exit 2 ;;
esac
"$ridge" help check >/dev/null 2>&1 || { echo 'skipped: this ridge has no check' && exit 77; }
