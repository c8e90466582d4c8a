# SPDX-License-Identifier: Apache-2.0
"""Accounts of `ridge timeline` against totals that a script of another kind computed from the same
files (truth.json beside them): span, unions, idle time, every gap, streams, what overlaps. Each
nanosecond of idle time has one cause. The verdicts on the files are recorded here; causes are
compared with those of a prototype of the rules, which differ where the table says why."""
import json
import os

import corpus

corpus.CORPUS = os.path.join(corpus.SHARED, "timeline_corpus")

LEAST_GAPS_NS = {"gaps_ge_1us": 10 ** 3, "gaps_ge_10us": 10 ** 4, "gaps_ge_100us": 10 ** 5,
                 "gaps_ge_1ms": 10 ** 6, "gaps_ge_10ms": 10 ** 7}

# Verdict and pace on each device.
VERDICTS = {
    "HTA__amd_trace_mi250_minitoy_train_ROCm6_2_kineto.json.gz": {2: "MODULE-BOUND decode-like"},
    "HTA__df_index_resolver_df_index_resolver.json.gz": {1: "LAUNCH-BOUND decode-like"},
    "HTA__negative_queue_length_values_check_rank0.json.gz": {0: "INCOMPLETE"},
    "HTA__ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz":
        {0: "GPU-BOUND prefill-like"},
    "TraceLens__b200_eager_trace.json.gz": {0: "LAUNCH-BOUND decode-like"},
    "TraceLens__h100_facebook_timesformer-base-finetuned-k400__1016002.json.gz":
        {0: "GPU-BOUND prefill-like"},
    "TraceLens__inference_sglang_prefilldecode_sglang_Qwen3-8B_prefilldecode.json.gz":
        {9: "INCOMPLETE"},
    "TraceLens__inference_vllm_decode_full_graph_execution.json.gz": {2: "GRAPH-REPLAY"},
    "cudatutorial__report1.sqlite": {0: "GPU-BOUND"},
    "dlprof__nsys_profile.sqlite": {0: "LAUNCH-BOUND decode-like"},
    "extrap__ex-gpu.s1000.sqlite": {0: "MODULE-BOUND"},
    "flameox__nsight-2025.5.2.sqlite": {0: "MIXED"},
    "flashinfer-bench__40_LayerNorm_custom.sqlite": {0: "NO-WORK"},
    "flashinfer-bench__9_Tall_skinny_ref.sqlite": {0: "NO-WORK"},
    "kineto__tb_resnet50_nw0_2021.pt.trace.json.gz": {0: "NO-WORK"},
    "nsys-ai__h100_2gpu_1s.sqlite": {0: "COPY-BOUND", 1: "COPY-BOUND"},
    "nsys-ai__mfu_2gpu_before.sqlite": {0: "GPU-BOUND prefill-like", 1: "MIXED prefill-like"},
    "pipit__perlmutter-cloverleaf-cuda.sqlite": {0: "SYNC-BOUND decode-like"},
    "rodinia-gaussian__report3.sqlite": {0: "GPU-BOUND"},
    "test-cuda__report2.sqlite": {0: "COPY-BOUND"},
}

CAUSES = {"launch_slow": "slow-launch", "launch": "launch", "dispatch": "dispatch",
          "sync_blocked": "sync", "sync_refill": "sync-refill", "alloc": "alloc",
          "module": "module", "graphcap": "graph-build", "api_other": "other-api",
          "hw_gap": "hardware", "queued_late(dependency/other)": "queued",
          "unknown_no_launch_record": "unknown", "graph_internal": "graph-internal",
          "no_work/untraced_host": "no-work", "profiler": "profiler"}

# The causes in a file that differ from the prototype's by 1 % of the span or more, and why.
DIFFERENT = {
    # Nothing at all of the host for 2 ms or more is no work; the prototype asked for an operation
    # anywhere in the gap.
    "HTA__df_index_resolver_df_index_resolver.json.gz": {"dispatch", "no-work"},
    # The pieces between calls after a wait are below 2 ms each: refill.
    "flashinfer-bench__9_Tall_skinny_ref.sqlite": {"sync-refill", "no-work"},
    # Overhead records of code that was loaded inside short launch calls; and a wait that began
    # when the device was idle is a wait.
    # The prototype counted the calls that begin and end a capture, not what lies between them.
    "flameox__nsight-2025.5.2.sqlite": {"launch", "module", "sync", "graph-build", "other-api"},
}


class Devices(corpus.Test):
    def document(self, path):
        status, out, err = self.run("timeline", "--json", "--gaps", "100000000", path)
        self.true("%s: exit status %d, %r" % (path, status, err), status in (0, 1, 3))
        return json.loads(out) if out else {"devices": []}

    def gaps(self, what, device, expected):
        found = sorted((gap["start_ns"], gap["end_ns"] - gap["start_ns"]) for gap in device["gaps"])
        self.equal(what + ": gaps", len(found), expected["gaps_all"])
        self.equal(what + ": gap_count", device["gap_count"], expected["gaps_all"])
        for key, least in LEAST_GAPS_NS.items():
            long = [length for _, length in found if length >= least]
            self.equal("%s: %s" % (what, key), {"count": len(long), "total_ns": sum(long)},
                       expected[key])
        for gap in expected["largest_gaps"]:
            self.true("%s: a gap at %d" % (what, gap["start_ns"]),
                      (gap["start_ns"], gap["dur_ns"]) in found)
        lengths = [gap["end_ns"] - gap["start_ns"] for gap in device["gaps"]]
        self.true(what + ": the largest first", lengths == sorted(lengths, reverse=True))
        for gap in device["gaps"]:
            at = gap["start_ns"]
            for piece in gap["pieces"]:
                if piece["start_ns"] != at or piece["end_ns"] <= at:
                    self.fail("%s: pieces of the gap at %d" % (what, gap["start_ns"]))
                at = piece["end_ns"]
            self.true("%s: pieces fill the gap at %d" % (what, gap["start_ns"]),
                      at == gap["end_ns"])

    def streams(self, what, device, expected):
        found = {}
        for stream in device["streams"]:
            sums = found.setdefault(str(stream["id"]),
                                    {"ops": 0, "kernels": 0, "busy_ns": 0, "sum_ns": 0})
            sums["ops"] += stream["op_count"]
            sums["kernels"] += stream["kernel_count"]
            sums["busy_ns"] += stream["busy_ns"]
            sums["sum_ns"] += stream["sum_ns"]
        self.equal(what + ": streams", found, expected)

    def causes(self, what, name, device, reference):
        span = device["end_ns"] - device["start_ns"]
        total = {cause: row["total_ns"] for cause, row in device["causes"].items()}
        self.equal(what + ": causes sum to the idle time", sum(total.values()), device["idle_ns"])
        parts = {CAUSES[part]: time for part, time in reference.get("parts_ns", {}).items()
                 if part in CAUSES}
        for cause in total if parts else ():
            difference = abs(total[cause] - parts.get(cause, 0))
            self.true("%s: %s %d ns, the prototype %d ns" % (
                what, cause, total[cause], parts.get(cause, 0)),
                difference < span / 100 or cause in DIFFERENT.get(name, ()))

    def device(self, name, device, truth, reference):
        what = "%s device %d" % (name, device["device"])
        for key, member in (("first_start_ns", "start_ns"), ("last_end_ns", "end_ns"),
                            ("busy_all_ns", "busy_ns"), ("idle_all_ns", "idle_ns"),
                            ("busy_kernel_ns", "kernel_ns"),
                            ("same_stream_overlaps", "overlap_count"),
                            ("max_concurrent_ops", "concurrent_most")):
            self.equal("%s: %s" % (what, member), device[member], truth[key])
        self.equal(what + ": span", device["kernel_ns"] + device["copy_only_ns"]
                   + device["idle_ns"], truth["span_ns"])
        self.gaps(what, device, truth)
        self.streams(what, device, truth["streams"])
        self.causes(what, name, device, reference)
        found = " ".join(word for word in (device["verdict"], device["pace"]) if word)
        self.equal(what + ": verdict", found,
                   VERDICTS.get(name, {}).get(device["device"], found))


def main():
    test = Devices()
    os.makedirs(test.folder, exist_ok=True)
    with open(test.path("truth.json"), encoding="utf-8") as file:
        truth = json.load(file)["files"]
    device_count = 0
    for name, expected in truth.items():
        document = test.document(test.path(name))
        found = {str(device["device"]): device for device in document["devices"]}
        test.equal(name + ": devices", sorted(found), sorted(expected["devices"]))
        for number, device in found.items():
            device_count += 1
            if number in expected["devices"]:
                test.device(name, device, expected["devices"][number],
                            expected.get("idle_split_reference", {}).get(number, {}))
    print("%d traces, %d devices" % (len(truth), device_count))
    test.finish()


main()
