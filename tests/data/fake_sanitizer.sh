#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands in for compute-sanitizer where there is none: runs the command, shows what it was asked to
# run, and says what FAKE_SANITIZER wants: "clean", "error", "hazard", "unknown", "crash". Texts are
# those of 2025.3.
tool=
while [ $# -gt 0 ]; do
    case $1 in
    --tool) tool=$2 && shift 2 ;;
    --error-exitcode) failed=$2 && shift 2 ;;
    *) break ;;
    esac
done
[ -z "${FAKE_LOG-}" ] || { shift && echo "$tool: $*" >>"$FAKE_LOG"; }
echo '========= COMPUTE-SANITIZER'
summary='ERROR SUMMARY: 0 errors'
[ "$tool" != racecheck ] || summary='RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)'
status=0
case $FAKE_SANITIZER-$tool in
error-memcheck)
    echo '========= Invalid __global__ write of size 4 bytes'
    summary='ERROR SUMMARY: 2 errors' status=$failed ;;
hazard-racecheck)
    summary='RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)' ;;
unknown-*)
    summary='No errors, as far as one can see' ;;
crash-synccheck)
    kill -9 $$ ;;
esac
echo "========= $summary"
exit "$status"
