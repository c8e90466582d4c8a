/* SPDX-License-Identifier: Apache-2.0
 *
 * The one statement of what a ledger holds. CREATE TABLE, import, export, identifiers and the tables
 * of docs/formats/ledger.md are made from it. Tables stand in the order of their references. */
#include "ledger_internal.h"

#define NEEDED .is_needed = true
#define STATE .is_state = true
#define WITH .is_state = true, .is_with_previous = true
#define TO(table) .references = table
#define ONE_OF(list) .choices = list

/* clang-format off */
static const ridge_ledger_column gpu_columns[] = {
    {"uuid", RIDGE_LEDGER_TEXT, "\"GPU-...\"; none: the CPU device"},
    {"name", RIDGE_LEDGER_TEXT, "\"NVIDIA H200\"", NEEDED},
    {"sm", RIDGE_LEDGER_INTEGER, "90"},
    {"sm_count", RIDGE_LEDGER_INTEGER, ""},
    {"l2_bytes", RIDGE_LEDGER_INTEGER, ""},
    {"mem_bytes", RIDGE_LEDGER_INTEGER, ""},
    {"nominal_clock_hz", RIDGE_LEDGER_NUMBER, "greatest SM clock"},
    {"nominal_mem_bytes_per_s", RIDGE_LEDGER_NUMBER, ""},
};
static const ridge_ledger_column env_columns[] = {
    {"gpu_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("gpu")},
    {"driver", RIDGE_LEDGER_TEXT, "\"580.159.04\""},
    {"cuda_runtime", RIDGE_LEDGER_TEXT, "\"13.0\", of the driver"},
    {"host", RIDGE_LEDGER_TEXT, ""},
    {"kernel", RIDGE_LEDGER_TEXT, "of the operating system"},
    {"virt", RIDGE_LEDGER_TEXT, "\"passthrough\", \"vgpu\"; none: bare"},
    {"mig", RIDGE_LEDGER_BOOL, ""},
    {"ecc", RIDGE_LEDGER_BOOL, ""},
    {"power_limit_w", RIDGE_LEDGER_NUMBER, ""},
    {"clock_lock", RIDGE_LEDGER_BOOL, "set by the user"},
    {"persist_l2_bytes", RIDGE_LEDGER_INTEGER, "limit of persisting lines"},
};
static const ridge_ledger_column campaign_columns[] = {
    {"title", RIDGE_LEDGER_TEXT, "", NEEDED},
    {"goal", RIDGE_LEDGER_TEXT, ""},
    {"metric", RIDGE_LEDGER_TEXT, "what is to get better; none: time"},
    {"created", RIDGE_LEDGER_TEXT, "UTC, \"2026-03-01T09:30:00Z\"", NEEDED},
};
static const ridge_ledger_column artefact_columns[] = {
    {"kind", RIDGE_LEDGER_TEXT, "\"cubin\", \"so\", \"ptx\", \"manifest\", \"ncu-rep\"", NEEDED},
    {"hash", RIDGE_LEDGER_TEXT, "XXH3-128 of the bytes", NEEDED},
    {"bytes", RIDGE_LEDGER_INTEGER, "", NEEDED},
    {"path", RIDGE_LEDGER_TEXT, "name of the file it came from", STATE},
    {"content", RIDGE_LEDGER_BYTES, "the bytes, one zstd frame", STATE},
};
static const ridge_ledger_column build_columns[] = {
    {"code_hash", RIDGE_LEDGER_TEXT, "of the machine code of its entry, device functions and constants (ridge_code_of()); "
         "\"opaque:...\": not known, of the file it came in", NEEDED},
    {"arch", RIDGE_LEDGER_TEXT, "what the code is for: \"sm_90\", \"sm_80 sm_90\", \"compute_90\" of PTX, \"cpu\""},
    {"kernel", RIDGE_LEDGER_TEXT, "as named on the command line", STATE},
    {"source_rev", RIDGE_LEDGER_TEXT, "git commit of the folder it was in when it was filed; -dirty: and changes; ?: not known whether", STATE},
    {"dirty_diff_hash", RIDGE_LEDGER_TEXT, "of what was not committed", WITH},
    {"compiler", RIDGE_LEDGER_TEXT, "\"ptxas 13.0.88\"", STATE},
    {"flags", RIDGE_LEDGER_TEXT, "", WITH},
    {"regs", RIDGE_LEDGER_INTEGER, "registers a thread", STATE},
    {"spill_bytes", RIDGE_LEDGER_INTEGER, "stack frame a thread: spills and local arrays", STATE},
    {"smem_bytes", RIDGE_LEDGER_INTEGER, "static shared memory a block", STATE},
    {"code_bytes", RIDGE_LEDGER_INTEGER, "", STATE},
    {"compile_s", RIDGE_LEDGER_NUMBER, "", STATE},
    {"archive_artefact_id", RIDGE_LEDGER_TEXT, "the archived binary", STATE, TO("artefact")},
};
static const ridge_ledger_column kase_columns[] = {
    {"family", RIDGE_LEDGER_TEXT, "\"rms_norm\""},
    {"axes_json", RIDGE_LEDGER_TEXT, "{\"m\":4096,\"n\":5120}"},
    {"dtype", RIDGE_LEDGER_TEXT, "\"bf16\""},
    {"layout", RIDGE_LEDGER_TEXT, "\"contiguous\""},
    {"values_kind", RIDGE_LEDGER_TEXT, "\"normal\""},
    {"flop_count", RIDGE_LEDGER_NUMBER, "of the work"},
    {"bytes_read", RIDGE_LEDGER_NUMBER, "compulsory"},
    {"bytes_written", RIDGE_LEDGER_NUMBER, "compulsory"},
    {"footprint_bytes", RIDGE_LEDGER_NUMBER, "touched by a launch"},
};
static const ridge_ledger_column policy_columns[] = {
    {"l2", RIDGE_LEDGER_TEXT, "before a launch", ONE_OF("cold|hot|flush")},
    {"rotation", RIDGE_LEDGER_INTEGER, "sets of buffers"},
    {"mode", RIDGE_LEDGER_TEXT, "how launches are timed", ONE_OF("event|graph|batch")},
    {"k", RIDGE_LEDGER_INTEGER, "launches of a slot"},
    {"m", RIDGE_LEDGER_INTEGER, "blocks of a placement"},
    {"placements", RIDGE_LEDGER_INTEGER, "most"},
    {"regime", RIDGE_LEDGER_TEXT, "\"short\", \"both\""},
    {"order_scheme", RIDGE_LEDGER_TEXT, "\"abba\""},
    {"delta", RIDGE_LEDGER_NUMBER, "ln ratio that matters"},
};
static const ridge_ledger_column session_columns[] = {
    {"env_id", RIDGE_LEDGER_TEXT, "", TO("env")},
    {"tool_version", RIDGE_LEDGER_TEXT, "\"0.1.0\""},
    {"seed", RIDGE_LEDGER_INTEGER, ""},
    {"started", RIDGE_LEDGER_TEXT, "UTC", NEEDED},
    {"ended", RIDGE_LEDGER_TEXT, "UTC; none: interrupted", STATE},
    {"busy_flag", RIDGE_LEDGER_BOOL, "other processes computed on the GPU", WITH},
    {"null_centre", RIDGE_LEDGER_NUMBER, "ln ratio of the control of a kernel with itself", WITH},
    {"null_halfwidth", RIDGE_LEDGER_NUMBER, "", WITH},
};
static const ridge_ledger_column floor_columns[] = {
    {"session_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("session")},
    {"kind", RIDGE_LEDGER_TEXT, "\"event\", \"kernel\", \"graph\"", NEEDED},
    {"grid", RIDGE_LEDGER_TEXT, "of the empty kernel"},
    {"value_ns", RIDGE_LEDGER_NUMBER, ""},
};
static const ridge_ledger_column roof_columns[] = {
    {"session_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("session")},
    {"kind", RIDGE_LEDGER_TEXT, "\"copy\", \"read\", \"fma\", \"mma\"", NEEDED},
    {"dtype", RIDGE_LEDGER_TEXT, ""},
    {"size", RIDGE_LEDGER_INTEGER, "bytes of the buffer"},
    {"value", RIDGE_LEDGER_NUMBER, "measured"},
    {"unit", RIDGE_LEDGER_TEXT, "\"byte/s\", \"flop/s\""},
    {"nominal", RIDGE_LEDGER_NUMBER, "of the data sheet"},
};
static const ridge_ledger_column arm_columns[] = {
    {"session_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("session")},
    {"kase_id", RIDGE_LEDGER_TEXT, "", TO("kase")},
    {"build_id", RIDGE_LEDGER_TEXT, "", TO("build")},
    {"role", RIDGE_LEDGER_TEXT, "", ONE_OF("candidate|self|rival|null")},
    {"launcher", RIDGE_LEDGER_TEXT, "as named on the command line: \"rms_norm:row_per_warp\""},
    {"path_json", RIDGE_LEDGER_TEXT, "what a launch makes: names, grids and blocks of kernels, copies, fills", STATE},
};
static const ridge_ledger_column placement_columns[] = {
    {"session_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("session")},
    {"kase_id", RIDGE_LEDGER_TEXT, "", TO("kase")},
    {"seq", RIDGE_LEDGER_INTEGER, ""},
    {"addr_hash", RIDGE_LEDGER_TEXT, "of the addresses of its buffers"},
    {"shared_frac", RIDGE_LEDGER_NUMBER, "of the footprint, the same buffers in both arms"},
    {"value", RIDGE_LEDGER_NUMBER, "ln ratio, Hodges-Lehmann centre of its blocks", STATE},
};
static const ridge_ledger_column slot_columns[] = {
    {"placement_id", RIDGE_LEDGER_TEXT, "", TO("placement")},
    {"arm_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("arm")},
    {"block", RIDGE_LEDGER_INTEGER, "-1: warm-up or a single arm"},
    {"pos", RIDGE_LEDGER_INTEGER, "0 to 3 in the block"},
    {"t_start", RIDGE_LEDGER_NUMBER, "s since the session began"},
    {"k", RIDGE_LEDGER_INTEGER, "launches"},
    {"median_ns", RIDGE_LEDGER_NUMBER, ""},
    {"p10_ns", RIDGE_LEDGER_NUMBER, ""},
    {"p90_ns", RIDGE_LEDGER_NUMBER, ""},
    {"min_ns", RIDGE_LEDGER_NUMBER, ""},
    {"clock_hz", RIDGE_LEDGER_NUMBER, ""},
    {"power_w", RIDGE_LEDGER_NUMBER, ""},
    {"temp_c", RIDGE_LEDGER_NUMBER, ""},
    {"event_bits", RIDGE_LEDGER_INTEGER, "reasons of a lower clock, RIDGE_CLOCK_..."},
    {"batch_ns", RIDGE_LEDGER_NUMBER, "time of the batch, where launches are not timed one by one"},
};
static const ridge_ledger_column sample_columns[] = {
    {"slot_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("slot")},
    {"codec", RIDGE_LEDGER_TEXT, "\"i32\": little-endian int32, launches in their order"},
    {"tick_ns", RIDGE_LEDGER_NUMBER, "unit of the values"},
    {"blob", RIDGE_LEDGER_BYTES, ""},
};
static const ridge_ledger_column comparison_columns[] = {
    {"session_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("session")},
    {"kase_id", RIDGE_LEDGER_TEXT, "", TO("kase")},
    {"arm_a", RIDGE_LEDGER_TEXT, "baseline", TO("arm")},
    {"arm_b", RIDGE_LEDGER_TEXT, "candidate", TO("arm")},
    {"policy_id", RIDGE_LEDGER_TEXT, "", TO("policy")},
    {"ln_ratio", RIDGE_LEDGER_NUMBER, "ln(time of b / time of a)"},
    {"lo", RIDGE_LEDGER_NUMBER, "95 % interval of ln_ratio"},
    {"hi", RIDGE_LEDGER_NUMBER, ""},
    {"dof", RIDGE_LEDGER_INTEGER, ""},
    {"placements", RIDGE_LEDGER_INTEGER, ""},
    {"s_pilot", RIDGE_LEDGER_NUMBER, "spread of the pilot's placements"},
    {"mdc", RIDGE_LEDGER_NUMBER, "effect told from zero in 80 % of runs"},
    {"regime", RIDGE_LEDGER_TEXT, "what ln_ratio is about: \"short\", \"sustained\""},
    {"sustained_ln_ratio", RIDGE_LEDGER_NUMBER, "with 1 s slots, when measured"},
    {"sustained_lo", RIDGE_LEDGER_NUMBER, ""},
    {"sustained_hi", RIDGE_LEDGER_NUMBER, ""},
    {"verdict", RIDGE_LEDGER_TEXT, "", NEEDED, ONE_OF("IMPROVED|REGRESSED|SAME|FASTER_SMALL|SLOWER_SMALL|CANNOT_TELL|"
                               "IDENTICAL_CODE|INVALID")},
    {"p", RIDGE_LEDGER_NUMBER, "one-sided, of being beyond delta"},
    {"holm_p", RIDGE_LEDGER_NUMBER, "the same over the sweep, both runs", STATE},
    {"confirm_of", RIDGE_LEDGER_TEXT, "the comparison that this one repeats with another seed", TO("comparison")},
    {"invalid_guard", RIDGE_LEDGER_TEXT, "which guard spoke"},
    {"invalid_cause", RIDGE_LEDGER_TEXT, ""},
    {"a_ns", RIDGE_LEDGER_NUMBER, "median of the slot medians"},
    {"b_ns", RIDGE_LEDGER_NUMBER, ""},
    {"a_p90_ns", RIDGE_LEDGER_NUMBER, "of the launches"},
    {"b_p90_ns", RIDGE_LEDGER_NUMBER, ""},
    {"a_roof_frac", RIDGE_LEDGER_NUMBER, "of the binding measured roof"},
    {"b_roof_frac", RIDGE_LEDGER_NUMBER, ""},
    {"a_clock_hz", RIDGE_LEDGER_NUMBER, "mean SM clock"},
    {"b_clock_hz", RIDGE_LEDGER_NUMBER, ""},
    {"outputs_checked", RIDGE_LEDGER_INTEGER, "outputs of timed launches that were checked"},
};
static const ridge_ledger_column measurement_columns[] = {
    {"arm_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("arm")},
    {"policy_id", RIDGE_LEDGER_TEXT, "", TO("policy")},
    {"median_ns", RIDGE_LEDGER_NUMBER, "median of the slot medians"},
    {"p10_ns", RIDGE_LEDGER_NUMBER, ""},
    {"p90_ns", RIDGE_LEDGER_NUMBER, ""},
    {"least_ns", RIDGE_LEDGER_NUMBER, ""},
    {"spread_frac", RIDGE_LEDGER_NUMBER, "between placements"},
    {"bytes_per_s", RIDGE_LEDGER_NUMBER, ""},
    {"flop_per_s", RIDGE_LEDGER_NUMBER, ""},
    {"roof_frac", RIDGE_LEDGER_NUMBER, "of the binding measured roof"},
    {"nominal_frac", RIDGE_LEDGER_NUMBER, "of the binding nominal roof"},
    {"bound_ns", RIDGE_LEDGER_NUMBER, "least time by the roofs"},
    {"floor_frac", RIDGE_LEDGER_NUMBER, "share of the launch floor"},
    {"clock_hz", RIDGE_LEDGER_NUMBER, ""},
    {"power_w", RIDGE_LEDGER_NUMBER, ""},
    {"invalid_guard", RIDGE_LEDGER_TEXT, ""},
    {"invalid_cause", RIDGE_LEDGER_TEXT, ""},
};
static const ridge_ledger_column check_run_columns[] = {
    {"build_id", RIDGE_LEDGER_TEXT, "", TO("build")},
    {"kase_id", RIDGE_LEDGER_TEXT, "", TO("kase")},
    {"session_id", RIDGE_LEDGER_TEXT, "", TO("session")},
    {"launcher", RIDGE_LEDGER_TEXT, "as named on the command line"},
    {"seed", RIDGE_LEDGER_INTEGER, ""},
    {"env_id", RIDGE_LEDGER_TEXT, "", TO("env")},
    {"status", RIDGE_LEDGER_TEXT, "", NEEDED, ONE_OF("pass|suspicious|fail|refused|skipped")},
    {"worst_scaled_err", RIDGE_LEDGER_NUMBER, "of the hard bound"},
    {"worst_index", RIDGE_LEDGER_INTEGER, ""},
    {"n_fail", RIDGE_LEDGER_INTEGER, "elements"},
    {"n_suspicious", RIDGE_LEDGER_INTEGER, "elements"},
    {"nan_mismatch", RIDGE_LEDGER_INTEGER, "elements"},
    {"exact_test", RIDGE_LEDGER_BOOL, "small integers equal in every bit"},
    {"repeat_bits", RIDGE_LEDGER_BOOL, "the same bits in every launch"},
    {"guard_ok", RIDGE_LEDGER_BOOL, ""},
    {"poison_ok", RIDGE_LEDGER_BOOL, "everything written, nothing read before"},
    {"sanitizer", RIDGE_LEDGER_TEXT, "summary of compute-sanitizer"},
    {"report_json", RIDGE_LEDGER_TEXT, "the whole result"},
};
static const ridge_ledger_column check_region_columns[] = {
    {"check_run_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("check_run")},
    {"axis", RIDGE_LEDGER_INTEGER, ""},
    {"lo", RIDGE_LEDGER_INTEGER, "first index"},
    {"hi", RIDGE_LEDGER_INTEGER, "last index"},
    {"modulo", RIDGE_LEDGER_INTEGER, ""},
    {"share", RIDGE_LEDGER_NUMBER, "of wrong elements"},
    {"explanation", RIDGE_LEDGER_TEXT, ""},
};
static const ridge_ledger_column step_columns[] = {
    {"campaign_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("campaign")},
    {"seq", RIDGE_LEDGER_INTEGER, "its number", NEEDED},
    {"parent_step_id", RIDGE_LEDGER_TEXT, "", TO("step")},
    {"change", RIDGE_LEDGER_TEXT, "the one change", NEEDED},
    {"hypothesis", RIDGE_LEDGER_TEXT, ""},
    {"predicted_ratio", RIDGE_LEDGER_NUMBER, "new time / old time, before it was measured"},
    {"expected_metric", RIDGE_LEDGER_TEXT, "what else is to move"},
    {"author", RIDGE_LEDGER_TEXT, ""},
    {"assisted_by", RIDGE_LEDGER_TEXT, ""},
    {"created", RIDGE_LEDGER_TEXT, "UTC", NEEDED},
    {"closed", RIDGE_LEDGER_TEXT, "UTC", STATE},
    {"state", RIDGE_LEDGER_TEXT, "", WITH, NEEDED, ONE_OF("open|kept|rejected|reverted|invalid")},
    {"reason", RIDGE_LEDGER_TEXT, "", WITH},
    {"basis", RIDGE_LEDGER_TEXT, "what it was kept on", WITH, ONE_OF("first|comparison|profile|none")},
    {"build_id", RIDGE_LEDGER_TEXT, "", WITH, TO("build")},
};
static const ridge_ledger_column metric_columns[] = {
    {"build_id", RIDGE_LEDGER_TEXT, "", NEEDED, TO("build")},
    {"kase_id", RIDGE_LEDGER_TEXT, "", TO("kase")},
    {"env_id", RIDGE_LEDGER_TEXT, "", TO("env")},
    {"name", RIDGE_LEDGER_TEXT, "of the profiler, or \"ridge:...\"", NEEDED},
    {"value", RIDGE_LEDGER_NUMBER, "base units"},
    {"unit", RIDGE_LEDGER_TEXT, ""},
    {"text", RIDGE_LEDGER_TEXT, "of a metric that is words"},
    {"source", RIDGE_LEDGER_TEXT, "file and launch"},
    {"artefact_id", RIDGE_LEDGER_TEXT, "the report", TO("artefact")},
};
static const ridge_ledger_column note_columns[] = {
    {"subject_id", RIDGE_LEDGER_TEXT, "id of any row", NEEDED},
    {"at", RIDGE_LEDGER_TEXT, "UTC", NEEDED},
    {"text", RIDGE_LEDGER_TEXT, "", NEEDED},
};

#define TABLE(name, meaning) {#name, meaning, name##_columns, sizeof(name##_columns) / sizeof(name##_columns[0])}
static const ridge_ledger_table tables[] = {
    TABLE(gpu, "a device"),
    TABLE(env, "a device with its software and settings"),
    TABLE(campaign, "one goal, pursued in steps"),
    TABLE(artefact, "a file that rows rest on"),
    TABLE(build, "machine code; the same code is the same build"),
    TABLE(kase, "shape, type, layout and values of a problem"),
    TABLE(policy, "how it was measured"),
    TABLE(session, "one process on one device"),
    TABLE(floor, "time of nothing"),
    TABLE(roof, "measured peak beside the nominal one"),
    TABLE(arm, "one side of a comparison, in a session and case"),
    TABLE(placement, "one allocation of the buffers: the unit of replication"),
    TABLE(slot, "consecutive launches of one arm"),
    TABLE(sample, "every launch of a slot"),
    TABLE(comparison, "two arms, one case, a verdict"),
    TABLE(measurement, "one arm alone, one case"),
    TABLE(check_run, "correctness of one case"),
    TABLE(check_region, "where it was wrong"),
    TABLE(step, "one change, predicted, then kept or rejected"),
    TABLE(metric, "a number of a profile or of the compiled code"),
    TABLE(note, "a remark"),
};
/* clang-format on */

size_t ridge_ledger_table_count(void)
{
    return sizeof(tables) / sizeof(tables[0]);
}

const ridge_ledger_table *ridge_ledger_table_at(size_t index)
{
    return index < ridge_ledger_table_count() ? &tables[index] : NULL;
}

const ridge_ledger_table *ridge_ledger_table_find(const char *name)
{
    size_t i;

    for (i = 0; i < ridge_ledger_table_count(); i++)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return NULL;
}
