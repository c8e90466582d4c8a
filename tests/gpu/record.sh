#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record.sh RIDGE [FOLDER]: ridge record against torch.profiler, on a machine with a GPU and torch.
# Runs the decoder of examples/ as it is, under ridge record and under torch.profiler, and compares
# kernels, launches, copies and times, then NVTX ranges, --delay, --duration and a process that is
# killed. Prints a line a check; fails when one does. What was recorded stays in FOLDER.
set -u

ridge=${1:?usage: record.sh RIDGE [FOLDER]}
ridge=$(readlink -f "$ridge")
echo "$("$ridge" --version | head -1), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"
python3 -c 'import torch; print("torch", torch.__version__, "CUDA", torch.version.cuda)'
here=$(CDPATH='' cd -P -- "$(dirname "$0")" && pwd)
work=${2:-$(mktemp -d)}
mkdir -p "$work"
decoder=$here/../../examples/decoder/decoder.py
compare=$here/record_compare.py
steps=${RECORD_STEPS:-10}
failed=0
export RIDGE_COLLECT_LOG=$work/collect.log
rm -f "$RIDGE_COLLECT_LOG"

check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@"; then
        echo "ok      $name"
    else
        echo "FAILED  $name"
        failed=$((failed + 1))
    fi
}

step_ms() { sed -n 's/.*: \([0-9.]*\) ms a step/\1/p' "$1" | tail -1; }

for mode in decode graph prefill; do
    echo "== $mode"
    words="$decoder $mode --steps $steps"
    # shellcheck disable=SC2086 # words
    python3 $words >"$work/$mode.plain" 2>&1
    # shellcheck disable=SC2086
    "$ridge" record -f -o "$work/$mode.sqlite" -- python3 $words \
        >"$work/$mode.recorded" 2>"$work/$mode.record_err"
    check "$mode: recorded" test $? -eq 0
    cat "$work/$mode.record_err"
    # shellcheck disable=SC2086
    "$ridge" record -f --api none -o "$work/$mode.none.sqlite" -- python3 $words \
        >"$work/$mode.none" 2>/dev/null
    # shellcheck disable=SC2086
    "$ridge" record -f --api all -o "$work/$mode.all.sqlite" -- python3 $words \
        >"$work/$mode.all" 2>/dev/null
    # shellcheck disable=SC2086
    python3 $words --trace "$work/$mode.json.gz" >"$work/$mode.profiled" 2>&1
    echo "        ms a step: plain $(step_ms "$work/$mode.plain"), recorded" \
        "$(step_ms "$work/$mode.recorded") (no calls $(step_ms "$work/$mode.none")," \
        "all calls $(step_ms "$work/$mode.all"))," \
        "torch.profiler $(step_ms "$work/$mode.profiled")"
    python3 "$compare" "$mode" "$work/$mode.sqlite" "$work/$mode.json.gz" "$steps" ||
        failed=$((failed + 1))
done

echo '== NVTX, threads'
cat >"$work/ranges.py" <<'EOF'
import threading
import torch
a = torch.randn(1024, 1024, device="cuda")
torch.cuda.nvtx.range_push("outer")
for i in range(3):
    torch.cuda.nvtx.range_push(f"step {i}")
    a = a @ a
    torch.cuda.nvtx.range_pop()
torch.cuda.nvtx.range_pop()
ident = torch.cuda.nvtx.range_start("started")
torch.cuda.nvtx.range_push("crossed")
torch.cuda.nvtx.range_end(ident)
torch.cuda.nvtx.range_pop()
torch.cuda.nvtx.mark("marked")
def work():
    torch.cuda.nvtx.range_push("of a thread")
    (a @ a).sum().item()
    torch.cuda.nvtx.range_pop()
t = threading.Thread(target=work)
t.start()
t.join()
with torch.autograd.profiler.emit_nvtx():
    (a @ a).sum()
torch.cuda.synchronize()
EOF
"$ridge" record -f -o "$work/ranges.sqlite" -- python3 "$work/ranges.py"
python3 "$compare" ranges "$work/ranges.sqlite" || failed=$((failed + 1))

echo '== --delay, --duration, a process that is killed'
cat >"$work/long.py" <<'EOF'
import os, signal, sys, time
import torch
a = torch.randn(256, 256, device="cuda")
torch.cuda.synchronize()
start = time.time()
while time.time() - start < 6:
    a = torch.tanh(a)
    torch.cuda.synchronize()
    time.sleep(0.001)
if len(sys.argv) > 1:
    os.kill(os.getpid(), signal.SIGKILL)
EOF
"$ridge" record -f -o "$work/window.sqlite" --delay 2 --duration 1 -- python3 "$work/long.py"
python3 "$compare" window "$work/window.sqlite" || failed=$((failed + 1))
"$ridge" record -f -o "$work/killed.sqlite" -- python3 "$work/long.py" kill
check 'killed: exit status 3' test $? -eq 3
python3 "$compare" killed "$work/killed.sqlite" || failed=$((failed + 1))

echo '== two processes'
"$ridge" record -f -o "$work/two.sqlite" -- \
    bash -c "python3 '$work/ranges.py' & python3 '$work/ranges.py'; wait"
python3 "$compare" two "$work/two.sqlite" || failed=$((failed + 1))

echo '== torch.profiler in a program that is recorded'
"$ridge" record -f -o "$work/both.sqlite" -- python3 "$decoder" decode --steps 2 \
    --trace "$work/both.json.gz"
echo "        exit status $?"

for mode in decode graph prefill; do
    echo "== ridge timeline $mode"
    "$ridge" timeline "$work/$mode.sqlite" 2>&1 | head -20
done
echo '== log'
grep -v '^[0-9]*: buffer' "$RIDGE_COLLECT_LOG" | head -40
grep '^[0-9]*: buffer' "$RIDGE_COLLECT_LOG" | head -20
echo
echo "$failed failed, files in $work"
[ "$failed" -eq 0 ]
