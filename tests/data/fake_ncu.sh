#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands in for ncu where there is none: understands --log-file and --export, runs the command, and
# does what FAKE_NCU says: a report to deliver, "denied", "none", "fails".
while [ $# -gt 0 ]; do
    case $1 in
    --log-file) log=$2 && shift 2 ;;
    --export) report=$2 && shift 2 && break ;;
    *) shift ;;
    esac
done
status=0
"$@" || status=$?
case $FAKE_NCU in
denied)
    echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.' >"$log"
    exit 1 ;;
none)
    echo '==WARNING== No kernels were profiled.' >"$log" ;;
fails)
    echo '==ERROR== The application returned an error code (11).' >"$log"
    exit 11 ;;
*)
    echo '==PROF== Profiling "kernel": 0%....50%....100% - 38 passes' >"$log"
    cp "$FAKE_NCU" "$report" ;;
esac
exit $status
