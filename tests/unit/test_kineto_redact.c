/* SPDX-License-Identifier: Apache-2.0
 *
 * Redacted Kineto traces: what must be gone from the bytes, what must read as before, and what the
 * summary says. */
#include "cases.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "ridge/trace.h"
#include "ridge/trace_redact.h"

static char folder[] = "/tmp/ridge_kineto_XXXXXX", in_path[64], out_path[64];

static int make_paths(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(in_path, sizeof(in_path), "%s/in", folder);
    snprintf(out_path, sizeof(out_path), "%s/out", folder);
    return 0;
}

static int remove_paths(void **state)
{
    (void)state;
    unlink(in_path);
    unlink(out_path);
    return rmdir(folder);
}

static void write_in(const char *json)
{
    FILE *const stream = fopen(in_path, "wb");

    assert_non_null(stream);
    assert_int_equal(fputs(json, stream) < 0, 0);
    fclose(stream);
    unlink(out_path);
}

static const char *out_text(void)
{
    static char bytes[1 << 16];
    FILE *const stream = fopen(out_path, "rb");

    assert_non_null(stream);
    bytes[fread(bytes, 1, sizeof(bytes) - 1, stream)] = '\0';
    fclose(stream);
    return bytes;
}

/* -- what must go ------------------------------------------------------------------------------ */

#define MEMBERS                                                                                    \
    "\"schemaVersion\": 1, \"host_name\": \"wintermute.example.org\", \"username\": \"smith\", "   \
    "\"metadata\": {\"env\": {\"LOGNAME\": \"jones\", \"SSH_CLIENT\": \"203.0.113.7 22 22\", "     \
    "\"API_KEY\": \"hunter22\"}, \"out\": \"/home/brown/run/log\"}, "                              \
    "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 1, \"pg_config\": \"hunter22\"}, "     \
    "\"trace_id\": \"hunter22\", \"deviceProperties\": [{\"id\": 0, \"name\": \"H of smith\", "    \
    "\"uuid\": \"hunter22\"}], "                                                                   \
    "\"cupti_version\": 28, "
#define KERNEL                                                                                     \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm<4>\", \"pid\": 0, \"tid\": 7, "         \
    "\"ts\": 1.500, \"dur\": 2, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 3, "     \
    "\"note\": \"hunter22\"}}"
#define EVENT(category, name, rest)                                                                \
    ", {\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name "\", \"pid\": 5, \"ts\": 1, " \
    "\"dur\": 2, " rest "}"
#define TID "\"tid\": 6"

/* Events behind a kernel, and what they are then. */
static struct gone_case {
    const char *name, *events, *kept;
} gones[] = {
    {"members", "", "gemm<4>"},
    {"names in an annotation", EVENT("user_annotation", "smith and jones on wintermute: load", TID),
     "\"_____ and _____ on __________: load\""},
    {"the user of a path elsewhere", EVENT("user_annotation", "step of brown", TID),
     "\"step of _____\""},
    {"an address", EVENT("user_annotation", "from 203.0.113.7", TID), "\"from ___________\""},
    {"a path in an annotation", EVENT("user_annotation", "read /home/smith/x/y.bin", TID),
     "/y.bin"},
    {"a path of Windows, with escapes",
     EVENT("user_annotation", "C:\\\\Users\\\\smith\\\\run\\\\a.py", TID), "\\\\a.py\""},
    {"a name with an escape in it", EVENT("user_annotation", "of sm\\u0069th", TID),
     "\"of _____\""},
    {"a path in an operation", EVENT("cpu_op", "load(/home/jones/w.pt)", TID), "/w.pt)"},
    {"a frame", EVENT("python_function", "/home/smith/hunter22/a.py(3): f", TID), "a.py(3): f"},
    {"a frame below the working directory",
     EVENT("python_function", "hunter22/train/a.py(3): smith", TID), "/a.py(3): _____"},
    {"a frame of the framework",
     EVENT("python_function", "torch/nn/modules/module.py(1): _call", TID),
     "torch/nn/modules/module.py(1): _call"},
    {"an overhead", EVENT("overhead", "smith: Lazy Function Loading", TID),
     "Lazy Function Loading"},
    {"the name of a thread", EVENT("cpu_op", "a", "\"tid\": \"worker of smith\""),
     "\"worker of name1\""},
    {"the text of a process",
     ", {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": \"smith\", \"tid\": 6, "
     "\"ts\": 1, \"dur\": 2}",
     "\"pid\": \"name1\""},
    {"metadata",
     ", {\"ph\": \"M\", \"name\": \"process_labels\", \"pid\": 5, \"args\": {\"labels\": "
     "\"/home/white/run\"}}" EVENT("user_annotation", "of white", TID),
     "\"of _____\""},
    {"a kind that is text",
     EVENT("cuda_sync", "Stream", TID ", \"args\": {\"cuda_sync_kind\": \"Stream smith\"}"),
     "\"Stream _____\""},
    {"shapes that are text",
     EVENT("cpu_op", "a",
           TID ", \"args\": {\"Input Dims\": [[\"smith\", 2]], \"Input type\": "
               "[\"smith\"]}"),
     "\"a\""},
    {"other members of an event",
     EVENT("user_annotation", "a",
           TID
           ", \"cname\": \"smith\", \"id\": \"smith\", \"s\": \"smith\", \"args\": {\"Trace "
           "name\": \"smith\", \"hostname\": \"wintermute\", \"smith\": {\"jones\": [\"brown\"]}}"),
     "\"a\""},
    {"a category that is none", EVENT("smith", "jones", TID) EVENT("cpu_op", "b", TID), "\"b\""},
    {"names of processes and threads",
     ", {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": \"smith\", \"args\": {\"name\": "
     "\"python of smith\"}}, {\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 5, \"tid\": "
     "\"wintermute\", \"args\": {\"name\": \"thread 6 (jones)\"}}" EVENT("cpu_op", "b", TID),
     "\"b\""},
    {"a frame below the home", EVENT("python_function", "~smith/white/a.py(3): f", TID),
     "/a.py(3): f"},
    {"what a copy says it is",
     ", {\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD\", \"pid\": 0, \"tid\": "
     "7, "
     "\"ts\": 4, \"dur\": 1, \"args\": {\"device\": 0, \"stream\": 7, \"kind\": \"of smith\"}}",
     "\"of _____\""},
    {"other events and call stacks",
     EVENT("ac2g", "smith", TID) EVENT(
         "user_annotation", "a", TID ", \"args\": {\"Call stack\": \"/home/smith/a.py: smith\"}"),
     "\"a\""},
};

static void is_gone(void **state)
{
    static const char *const secrets[] = {"smith", "jones",      "hunter22",  "brown",
                                          "white", "wintermute", "203.0.113", "example.org"};
    const struct gone_case *const row = *state;
    ridge_trace_redaction summary;
    ridge_trace *trace;
    ridge_error err = {0};
    char json[8192];

    assert_true((size_t)snprintf(json, sizeof(json), "{" MEMBERS "\"traceEvents\": [" KERNEL "%s]}",
                                 row->events) < sizeof(json));
    write_in(json);
    if (ridge_trace_redact(in_path, out_path, &summary, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        if (strstr(out_text(), secrets[i]) != NULL)
            fail_msg("'%s' is still there:\n%s", secrets[i], out_text());
    if (strstr(out_text(), row->kept) == NULL)
        fail_msg("'%s' is not there:\n%s", row->kept, out_text());
    assert_int_equal(summary.format, RIDGE_TRACE_KINETO);
    assert_int_equal(summary.environment_count, 3);
    assert_int_equal(summary.host_count, 1);
    assert_in_range(summary.user_count, 3, 4);
    assert_int_equal(summary.address_count, 1);
    assert_int_equal(summary.part_count, 4);
    assert_int_equal(summary.remaining_count, 0);
    assert_int_equal(ridge_trace_open(out_path, NULL, &trace, &err), RIDGE_OK);
    assert_string_equal(ridge_trace_get_info(trace)->partial, "");
    assert_string_equal(ridge_trace_get_info(trace)->producer, "PyTorch profiler (CUPTI 28)");
    assert_string_equal(ridge_trace_get_info(trace)->schema, "1");
    assert_int_equal(ridge_trace_get_info(trace)->rank, 1);
    ridge_trace_free(trace);
}

static void counts(void **state)
{
    ridge_trace_redaction summary;

    (void)state;
    write_in("{" MEMBERS "\"traceEvents\": [" KERNEL EVENT("ac2g", "f", TID)
                 EVENT("user_annotation", "smith, smith at /home/smith/b", TID) "]}");
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_int_equal(summary.row_count, 1);
    assert_int_equal(summary.path_count, 1);
    assert_int_equal(summary.mention_count, 3); /* and the name of the device */
}

/* Who is meant by ids of two calls and a kernel, and what they become. */
static struct id_case {
    const char *name;
    const char *pid, *tid, *work; /* as JSON has them, without quotes */
    const char *kept[3];          /* the same behind it */
} ids[] = {
    {"machines before numbers", "host1: 4711", "6", "host1: 0", {"name1: 4711", "6", "name1: 0"}},
    {"a machine behind a dash",
     "ip-10-0-1-17-4711",
     "6",
     "ip-10-0-1-17-0",
     {"name1-4711", "6", "name1-0"}},
    {"a machine with its domain",
     "wintermute.example.org/4711",
     "6",
     "wintermute.example.org/0",
     {"name1/4711", "6", "name1/0"}},
    {"an address", "203.0.113.7", "6", "203.0.113.7", {"name1", "6", "name1"}},
    {"user and machine",
     "smith@node17 4711",
     "6",
     "smith@node17 0",
     {"name1@name2 4711", "6", "name1@name2 0"}},
    {"escapes", "h\\u006fst1: 4711", "6", "host1: 0", {"name1: 4711", "6", "name1: 0"}},
    {"ranks stay", "[TP00] 4711", "6", "rank0_4711", {"[TP00] 4711", "6", "rank0_4711"}},
    {"a rank behind the number",
     "4711 (rank 0)",
     "6",
     "4711 (rank 0)",
     {"4711 (rank 0)", "6", "4711 (rank 0)"}},
    {"threads", "4711", "loader smith 3", "0", {"4711", "name1 name2 3", "0"}},
    {"a stream", "4711", "stream 7", "0", {"4711", "stream 7", "0"}},
    {"names as they come out",
     "name1: 4711",
     "name2 3",
     "name1: 0",
     {"name1: 4711", "name2 3", "name1: 0"}},
    {"nothing", "", "Spans", "-", {"", "Spans", "-"}},
};

static void redacts_ids(void **state)
{
    static const char *const secrets[] = {"host1", "ip-10", "wintermute", "example",
                                          "203.0", "smith", "node17",     "u006f"};
    const struct id_case *const row = *state;
    char json[1024];

    snprintf(
        json, sizeof(json),
        "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"launch\", "
        "\"pid\": \"%s\", \"tid\": \"%s\", \"ts\": 1, \"dur\": 2, \"args\": {\"correlation\": "
        "3}}, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": \"%s\", \"tid\": 7, "
        "\"ts\": 4, \"dur\": 2, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 3}}]}",
        row->pid, row->tid, row->work);
    write_in(json);
    assert_int_equal(ridge_trace_redact(in_path, out_path, NULL, NULL), RIDGE_OK);
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        if (strstr(out_text(), secrets[i]) != NULL)
            fail_msg("'%s' is still there:\n%s", secrets[i], out_text());
    for (size_t i = 0; i < 3; i++) {
        char member[64];
        int64_t number;

        number = strspn(row->kept[i], "0123456789") == strlen(row->kept[i]) && *row->kept[i] != 0;
        snprintf(member, sizeof(member), number ? "\"%s\": %s," : "\"%s\": \"%s\",",
                 i == 1 ? "tid" : "pid", row->kept[i]);
        if (strstr(out_text(), member) == NULL)
            fail_msg("'%s' is not there:\n%s", member, out_text());
    }
}

/* A machine that only ids name is gone from other texts too. */
static void learns_from_ids(void **state)
{
    ridge_trace_redaction summary;

    (void)state;
    write_in(
        "{\"traceEvents\": [" KERNEL ", {\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
        "\"load on gpu-box7\", \"pid\": \"gpu-box7: 5\", \"tid\": 6, \"ts\": 1, \"dur\": 2}]}");
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_null(strstr(out_text(), "gpu-box7"));
    assert_non_null(strstr(out_text(), "\"load on ________\""));
    assert_non_null(strstr(out_text(), "\"name1: 5\""));
    assert_int_equal(summary.host_count, 1);
    assert_int_equal(summary.mention_count, 2);
}

/* Names of kernels and calls stay, and it is said. */
static void remains_in_kernels(void **state)
{
    ridge_trace_redaction summary;

    (void)state;
    write_in("{\"user\": \"gemm\", \"traceEvents\": [" KERNEL "]}");
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_non_null(strstr(out_text(), "gemm<4>"));
    assert_int_equal(summary.remaining_count, 1);
    assert_string_equal(summary.remaining, "gemm");
}

/* A user who is called as an operation is hurts no operation. */
static void keeps_public_words(void **state)
{
    (void)state;
    write_in(
        "{\"user\": \"add\", \"traceEvents\": [" KERNEL EVENT("cpu_op", "aten::add", TID) "]}");
    assert_int_equal(ridge_trace_redact(in_path, out_path, NULL, NULL), RIDGE_OK);
    assert_non_null(strstr(out_text(), "aten::add"));
}

/* -- what must stay ---------------------------------------------------------------------------- */

static const char rows[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"H\\\"200\", \"numSms\": "
    "132, \"computeMajor\": 9}, {\"id\": 1, \"name\": \"other\"}], \"roctracer_version\": 4.1, "
    "\"with_stack\": 0, \"traceEvents\": ["
    /* Not in order of time, so that configurations and streams are not either. */
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"late\", \"pid\": 1, \"tid\": 9, \"ts\": 90, "
    "\"dur\": 2.5, \"args\": {\"device\": 1, \"context\": 2, \"stream\": 9, \"correlation\": 77, "
    "\"grid\": [9, 1, 1], \"block\": [64, 1, 1], \"registers per thread\": 8, \"shared memory\": "
    "16, \"graph id\": 3, \"graph node id\": 4, \"Collective name\": \"x\"}}, "
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"early\", \"pid\": 0, \"tid\": 7, \"ts\": 10, "
    "\"dur\": 1, \"args\": {\"device\": 0, \"stream\": 7, \"grid\": [2, 1, 1], \"block\": [32, 1, "
    "1]}}, "
    "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> Device)\", "
    "\"pid\": 0, \"tid\": 7, \"ts\": 12, \"dur\": 1, \"args\": {\"device\": 0, \"stream\": 7, "
    "\"bytes\": 4096}}, "
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"no end\", \"pid\": 0, \"tid\": 7, \"ts\": "
    "1}, "
    "{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"Stream Wait Event\", \"pid\": 0, \"tid\": "
    "7, \"ts\": 13, \"dur\": 4, \"args\": {\"cuda_sync_kind\": \"Stream Wait Event\", \"stream\": "
    "7, \"device\": 0, \"correlation\": 77}}, "
    "{\"ph\": \"X\", \"cat\": \"cuda_driver\", \"name\": \"cuLaunchKernel\", \"pid\": 5, \"tid\": "
    "6, \"ts\": 1, \"dur\": 2, \"args\": {\"correlation\": 77}}, "
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 5, \"tid\": 6, \"ts\": "
    "0.5, \"dur\": 4, \"args\": {\"Input Dims\": [[4, 8], [], [[2], [3]]], \"Input Strides\": "
    "[[0, 1], [], [[0], [1]]], \"Input type\": [\"float\", \"Scalar\", \"TensorList\"]}}, "
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::cudnn_convolution\", \"pid\": 5, "
    "\"tid\": 6, \"ts\": 6, \"dur\": 1, \"args\": {\"Input Dims\": [[1, 2, 4], [2, 2, 3], [], "
    "[], [], []], \"Input type\": [\"float\", \"float\", \"\", \"ScalarList\", \"\", "
    "\"Scalar\"], \"Concrete Inputs\": [\"\", \"\", \"\", \"[1, 0]\", \"a name\", "
    "\"False\"]}}, "
    "{\"ph\": \"X\", \"cat\": \"overhead\", \"name\": \"Buffer Flush\", \"pid\": -1, \"tid\": 0, "
    "\"ts\": 3, \"dur\": 2}]}";

static void add_rows(ridge_text *out, const ridge_trace *trace)
{
    const ridge_trace_info *const info = ridge_trace_get_info(trace);
    size_t count, streams;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const ridge_trace_stream *const stream = ridge_trace_streams(trace, &streams);

    for (size_t i = 0; i < count; i++)
        ridge_text_format(out, "%s %" PRId64 "-%" PRId64 " %" PRIu64 " s%u c%u a%u g%u %d%d%d%d\n",
                          ridge_trace_name(trace, ops[i].name, NULL), ops[i].start_ns,
                          ops[i].end_ns, ops[i].bytes, ops[i].stream, ops[i].config, ops[i].api,
                          ops[i].graph, ops[i].flags, ops[i].copy, ops[i].source,
                          ops[i].destination);
    for (size_t i = 0; i < streams; i++)
        ridge_text_format(out, "stream %" PRId64 " d%u c%u\n", stream[i].id, stream[i].device,
                          stream[i].context);
    {
        const ridge_trace_device *const devices = ridge_trace_devices(trace, &count);

        for (size_t i = 0; i < count; i++)
            ridge_text_format(out, "device %" PRId64 " %s %u\n", devices[i].id, devices[i].name,
                              devices[i].sm_count);
    }
    {
        const ridge_trace_config *const configs = ridge_trace_configs(trace, &count);

        for (size_t i = 0; i < count; i++)
            ridge_text_format(out, "config %u %u %u %u\n", configs[i].grid[0], configs[i].block[0],
                              configs[i].registers, configs[i].static_shared_bytes);
    }
    {
        const ridge_trace_sync *const syncs = ridge_trace_syncs(trace, &count);

        for (size_t i = 0; i < count; i++)
            ridge_text_format(out, "sync %d s%u a%u\n", syncs[i].kind, syncs[i].stream,
                              syncs[i].api);
    }
    {
        const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);

        for (size_t i = 0; i < count; i++)
            ridge_text_format(out, "range %s %s\n", ridge_trace_name(trace, ranges[i].name, NULL),
                              ridge_trace_name(trace, ranges[i].shapes, NULL));
    }
    ridge_text_format(out, "%s, %s, %d, %" PRIu64 " inverted\n", info->producer, info->schema,
                      info->has_stacks, info->inverted_count);
}

static void reads_the_same(void **state)
{
    ridge_text texts[2];

    (void)state;
    write_in(rows);
    assert_int_equal(ridge_trace_redact(in_path, out_path, NULL, NULL), RIDGE_OK);
    for (int i = 0; i < 2; i++) {
        ridge_trace *trace = NULL;

        ridge_text_init(&texts[i]);
        assert_int_equal(ridge_trace_open(i == 0 ? in_path : out_path, NULL, &trace, NULL),
                         RIDGE_OK);
        add_rows(&texts[i], trace);
        assert_false(texts[i].failed);
        ridge_trace_free(trace);
    }
    assert_non_null(strstr(texts[0].data, "f32[4*,8] - ?[2*] ?[3]"));
    assert_non_null(strstr(texts[0].data, "(ROCm tracer 4.1)"));
    assert_string_equal(texts[1].data, texts[0].data);
    ridge_text_release(&texts[0]);
    ridge_text_release(&texts[1]);
}

/* Twice gives the same bytes as once. */
static void again(void **state)
{
    char first[8192];
    ridge_trace_redaction summary;

    (void)state;
    write_in("{" MEMBERS "\"traceEvents\": [" KERNEL EVENT("user_annotation", "of smith", TID)
                 EVENT("cpu_op", "a", "\"tid\": \"node17 name7-3\"") "]}");
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_true(strlen(out_text()) < sizeof(first));
    memcpy(first, out_text(), strlen(out_text()) + 1);
    assert_int_equal(rename(out_path, in_path), 0);
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_string_equal(out_text(), first);
    assert_int_equal(summary.user_count + summary.host_count + summary.mention_count, 0);
    assert_int_equal(summary.part_count + summary.row_count, 0);
}

static void refused(void **state)
{
    ridge_error err = {0};

    (void)state;
    write_in("{\"traceEvents\": [" KERNEL ", {\"ph\": \"X\", \"cat");
    assert_int_equal(ridge_trace_redact(in_path, out_path, NULL, &err), RIDGE_ERR_FORMAT);
    assert_int_equal(access(out_path, F_OK), -1);
}

static void out_of_memory(void **state)
{
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    write_in(
        "{" MEMBERS "\"traceEvents\": [" KERNEL EVENT("user_annotation", "of smith", TID)
            EVENT("cpu_op", "a", "\"tid\": \"host1: 3\", \"args\": {\"Input Dims\": [[2]]}") "]}");
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_error err = {0};

        ridge_memory_fail_at(nth);
        status = ridge_trace_redact(in_path, out_path, NULL, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            if (status != RIDGE_ERR_OUT_OF_MEMORY)
                fail_msg("allocation %zu: %s", nth, err.text);
            assert_int_equal(access(out_path, F_OK), -1);
        }
        assert_true(nth < 5000);
    }
    assert_null(strstr(out_text(), "smith"));
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, is_gone, gones);
    CASES_ADD_ROWS(&list, redacts_ids, ids);
    cases_add(&list, "hosts of ids in texts", learns_from_ids, NULL);
    cases_add(&list, "counts", counts, NULL);
    cases_add(&list, "remains in names of kernels", remains_in_kernels, NULL);
    cases_add(&list, "keeps public words", keeps_public_words, NULL);
    cases_add(&list, "reads the same", reads_the_same, NULL);
    cases_add(&list, "again", again, NULL);
    cases_add(&list, "refused", refused, NULL);
    cases_add(&list, "out of memory", out_of_memory, NULL);
    return _cmocka_run_group_tests("kineto_redact", list.tests, list.count, make_paths,
                                   remove_paths);
}
