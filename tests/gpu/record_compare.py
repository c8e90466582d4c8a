# SPDX-License-Identifier: Apache-2.0
"""record_compare.py CASE FILE.sqlite [TRACE.json.gz STEPS]: checks of record.sh. A line each."""

import collections
import gzip
import json
import sqlite3
import statistics
import sys

TOTAL_FRAC = 0.03  # two runs of one program on a GPU whose clock is its own
MEDIAN_FRAC = 0.10  # two runs: clocks and power differ, by 8.4 % for a small kernel beside large ones
MEDIAN_US = 0.5  # clocks of both count by 32 ns and more

failed = 0


def check(name, good, text):
    global failed
    failed += not good
    print(f"{'ok    ' if good else 'FAILED'}  {name}: {text}")


def rows(db, sql):
    return db.execute(sql).fetchall()


def has(db, table):
    return bool(rows(db, f"select 1 from sqlite_master where name = '{table}'"))


def api_name(name):
    """cudaLaunchKernel_v7000 is cudaLaunchKernel."""
    head, _, tail = name.rpartition("_v")
    return head if head and tail.isdigit() else name


def ours(db):
    """Kernels and copies in order of their start: (start, end, name, correlation, pid)."""
    kernels = rows(
        db,
        "select start, end, value, correlationId, globalPid from CUPTI_ACTIVITY_KIND_KERNEL "
        "join StringIds on id = demangledName order by start",
    )
    copies = []
    for table in ("MEMCPY", "MEMSET"):
        if has(db, f"CUPTI_ACTIVITY_KIND_{table}"):
            copies += rows(
                db,
                f"select start, end, '{table}', correlationId, globalPid, bytes "
                f"from CUPTI_ACTIVITY_KIND_{table}",
            )
    return kernels, sorted(copies)


def theirs(path):
    with gzip.open(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    by_cat = collections.defaultdict(list)
    for event in events:
        if event.get("ph") == "X":
            by_cat[event.get("cat")].append(event)
    for list_ in by_cat.values():
        list_.sort(key=lambda event: event["ts"])
    return by_cat


def compare(mode, db, path, steps):
    kernels, copies = ours(db)
    trace = theirs(path)
    want = trace["kernel"]
    count = len(want)
    check(f"{mode}: kernels", len(kernels) >= count, f"{len(kernels)} recorded in all, "
          f"{count} profiled in {steps} steps ({count / steps:g} a step)")
    got = kernels[-count:]  # the program ends with its steps
    names_got = [row[2] for row in got]
    names_want = [event["name"] for event in want]
    check(f"{mode}: names in order", names_got == names_want,
          "equal" if names_got == names_want else "differ: " + next(
              (f"at {i}: {a!r} is {b!r} there" for i, (a, b) in
               enumerate(zip(names_got, names_want)) if a != b), "?"))
    tally_got, tally_want = collections.Counter(names_got), collections.Counter(names_want)
    check(f"{mode}: counts by name", tally_got == tally_want,
          f"{len(tally_got)} names, {len(tally_want)} there")
    total_got = sum(row[1] - row[0] for row in got) / 1e3
    total_want = sum(event["dur"] for event in want)
    frac = total_got / total_want - 1
    check(f"{mode}: total time", abs(frac) <= TOTAL_FRAC,
          f"{total_got / steps:.1f} us a step, {total_want / steps:.1f} there, {frac:+.2%}")
    durations_got, durations_want = collections.defaultdict(list), collections.defaultdict(list)
    for row in got:
        durations_got[row[2]].append((row[1] - row[0]) / 1e3)
    for event in want:
        durations_want[event["name"]].append(event["dur"])
    worst, bad = 0.0, 0
    for name in tally_want:
        if name not in durations_got:
            continue
        a, b = statistics.median(durations_got[name]), statistics.median(durations_want[name])
        worst = max(worst, abs(a / b - 1))
        bad += abs(a - b) > max(MEDIAN_US, MEDIAN_FRAC * b)
    check(f"{mode}: medians by name", bad == 0, f"{bad} differ, the worst by {worst:.2%}")

    # Every kernel has its call.
    calls = rows(db, "select start, end, correlationId, globalTid & ~0xffffff, value, eventClass "
                     "from CUPTI_ACTIVITY_KIND_RUNTIME join StringIds on id = nameId")
    by_key = collections.defaultdict(list)
    for call in calls:
        by_key[call[2], call[3]].append(call)
    orphans = sum((row[3], row[4]) not in by_key for row in kernels)
    check(f"{mode}: launches", orphans == 0, f"{orphans} kernels without a call")
    several = [key for key, list_ in by_key.items() if len(list_) > 1]
    sample = collections.Counter(
        " + ".join(sorted(call[4] for call in by_key[key])) for key in several)
    check(f"{mode}: one call a number", not several, f"{len(several)} with several "
          f"{sample.most_common(3)}")
    late = sum(1 for row in kernels for call in by_key[row[3], row[4]][:1] if row[0] < call[0])
    check(f"{mode}: kernels begin after their call", late == 0, f"{late} before")
    launch_got = collections.Counter(
        api_name(by_key[row[3], row[4]][0][4]) for row in got if (row[3], row[4]) in by_key)
    owner = {event["args"].get("correlation"): event["name"]
             for cat in ("cuda_runtime", "cuda_driver") for event in trace[cat]}
    launch_want = collections.Counter(
        owner.get(event["args"].get("correlation"), "none") for event in want)
    check(f"{mode}: kernels by call", launch_got == launch_want,
          f"{dict(launch_got)}, {dict(launch_want)} there")
    check(f"{mode}: calls", True, "recorded in all "
          f"{collections.Counter(api_name(call[4]) for call in calls).most_common(12)}")
    begin = got[0][0]
    copies_got = [row for row in copies if row[0] >= begin]
    copies_want = trace["gpu_memcpy"] + trace["gpu_memset"]
    check(f"{mode}: copies and sets", len(copies_got) == len(copies_want),
          f"{len(copies_got)}, {len(copies_want)} there")
    untimed = sum(row[0] == 0 for row in kernels)
    check(f"{mode}: times", untimed == 0, f"{untimed} kernels without")
    nodes = rows(db, "select count(*), count(graphNodeId), count(graphId) "
                     f"from (select * from CUPTI_ACTIVITY_KIND_KERNEL order by start "
                     f"desc limit {count})")[0]
    wanted = count if mode == "graph" else 0
    check(f"{mode}: kernels of graphs", nodes[1] == wanted, f"{nodes[1]} of {nodes[0]}")
    shape_got = collections.Counter(rows(
        db, "select value, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread from "
            f"(select * from CUPTI_ACTIVITY_KIND_KERNEL order by start desc limit {count}) "
            "join StringIds on id = demangledName"))
    shape_want = collections.Counter(
        (event["name"], *event["args"]["grid"], *event["args"]["block"],
         event["args"].get("registers per thread")) for event in want)
    check(f"{mode}: grids, blocks, registers", shape_got == shape_want,
          f"{len(shape_got)} shapes, {len(shape_want)} there")
    gpu = rows(db, "select name, smCount, memoryBandwidth, clockRate from TARGET_INFO_GPU")
    check(f"{mode}: the GPU", len(gpu) > 0 and gpu[0][1] > 0, str(gpu[:2]))
    print(f"        tables: {[(n, rows(db, f'select count(*) from {n}')[0][0]) for (n,) in rows(db, 'select name from sqlite_master')]}")
    if has(db, "CUPTI_ACTIVITY_KIND_OVERHEAD"):
        print("        overheads: " + str(rows(
            db, "select overheadType, count(*), sum(end - start) / 1000 from "
                "CUPTI_ACTIVITY_KIND_OVERHEAD group by 1")))


def ranges(db):
    found = rows(db, "select eventType, value, end, globalTid, endGlobalTid, domainId, start from "
                     "NVTX_EVENTS left join StringIds on id = textId order by start")
    kinds = {}
    for row in found:
        kinds.setdefault(row[1], set()).add(row[0])
    print(f"        {len(found)} rows: {sorted((str(k), sorted(v)) for k, v in kinds.items())[:24]}")
    for name, kind in (("outer", 59), ("step 1", 59), ("started", 60), ("marked", 34),
                       ("of a thread", 59)):
        check(f"ranges: {name}", kind in kinds.get(name, ()), str(kinds.get(name)))
    check("ranges: of autograd", any(n and "aten::mm" in n for n in kinds), "aten::mm")
    check("ranges: closed", all(r[2] is not None for r in found if r[0] in (59, 60)), "all")
    threads = {row[3] for row in found if row[1] == "of a thread"}
    main = {row[3] for row in found if row[1] == "outer"}
    check("ranges: threads", threads and main and not threads & main, f"{len(threads)} and {len(main)}")
    calls = {row[0] for row in rows(db, "select distinct globalTid from CUPTI_ACTIVITY_KIND_RUNTIME")}
    check("ranges: threads are those of calls", (threads | main) <= calls, str(len(calls)))
    inside = rows(db, "select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME r, NVTX_EVENTS n, StringIds "
                      "s where s.id = n.textId and s.value = 'step 1' and r.start >= n.start and "
                      "r.end <= n.end and r.globalTid = n.globalTid")[0][0]
    check("ranges: calls lie inside", inside > 0, f"{inside} in step 1")


def window(db):
    kernels, _ = ours(db)
    span = (kernels[-1][1] - kernels[0][0]) / 1e9 if kernels else 0
    check("window: a second of six", 0.8 <= span <= 1.3, f"{span:.3f} s, {len(kernels)} kernels, "
          f"from {kernels[0][0] / 1e9 if kernels else 0:.3f} s")


def killed(db):
    kernels, _ = ours(db)
    span = (kernels[-1][1] - kernels[0][0]) / 1e9 if kernels else 0
    check("killed: what was flushed", 1 <= span <= 6.2, f"{span:.3f} s of 6, {len(kernels)} kernels")


def two(db):
    kernels, _ = ours(db)
    pids = collections.Counter(row[4] for row in kernels)
    check("two: processes", len(pids) == 2, str(list(pids.values())))
    first = [min(r[0] for r in kernels if r[4] == pid) / 1e9 for pid in pids]
    check("two: one clock", len(first) == 2 and abs(first[0] - first[1]) < 20, str(first))


def main():
    case, path = sys.argv[1], sys.argv[2]
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    if len(sys.argv) > 3:
        compare(case, db, sys.argv[3], int(sys.argv[4]))
    else:
        {"ranges": ranges, "window": window, "killed": killed, "two": two}[case](db)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
