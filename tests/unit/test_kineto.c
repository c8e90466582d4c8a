/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of Kineto: what each quirk of the format becomes, and what is left of broken files. */
#include "cases.h"

#include <inttypes.h>
#include <unistd.h>
#define ZLIB_CONST /* zlib does not write through next_in */
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/text.h"
#include "ridge/trace.h"
#include "ridge/trace_redact.h"

/* -- a trace as text --------------------------------------------------------------------------- */

static void add_ops(ridge_text *out, const ridge_trace *trace)
{
    size_t count, stream_count, device_count, config_count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &stream_count);
    const ridge_trace_device *const devices = ridge_trace_devices(trace, &device_count);
    const ridge_trace_config *const configs = ridge_trace_configs(trace, &config_count);

    for (size_t i = 0; i < count; i++) {
        const ridge_trace_op *const op = &ops[i];

        ridge_text_format(out, "%s %" PRId64 "+%" PRId64 " d%" PRId64 " s%" PRId64,
                          ridge_trace_name(trace, op->name, NULL), op->start_ns,
                          op->end_ns - op->start_ns, devices[streams[op->stream].device].id,
                          streams[op->stream].id);
        if (op->kind == RIDGE_OP_MEMCPY)
            ridge_text_format(out, " %s %s>%s", ridge_copy_name(op->copy),
                              ridge_memory_place_name(op->source),
                              ridge_memory_place_name(op->destination));
        if (op->bytes != RIDGE_TRACE_BYTES_UNKNOWN)
            ridge_text_format(out, " %" PRIu64 "B", op->bytes);
        if (op->config != RIDGE_TRACE_NONE)
            ridge_text_format(out, " <%u,%u,%u %u,%u,%u r%u m%u>", configs[op->config].grid[0],
                              configs[op->config].grid[1], configs[op->config].grid[2],
                              configs[op->config].block[0], configs[op->config].block[1],
                              configs[op->config].block[2], configs[op->config].registers,
                              configs[op->config].static_shared_bytes);
        if (op->api != RIDGE_TRACE_NONE)
            ridge_text_format(out, " by%u", op->api);
        if (op->graph != RIDGE_TRACE_NONE)
            ridge_text_format(out, " g%u", op->graph);
        ridge_text_add(out, (op->flags & RIDGE_OP_IN_GRAPH) != 0 ? " graph" : "");
        ridge_text_add(out, (op->flags & RIDGE_OP_COLLECTIVE) != 0 ? " collective" : "");
        ridge_text_add(out, "\n");
    }
}

static void add_host(ridge_text *out, const ridge_trace *trace)
{
    size_t count, thread_count;
    const ridge_trace_thread *const threads = ridge_trace_threads(trace, &thread_count);
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &count);
    const ridge_trace_range *ranges;
    const ridge_trace_overhead *overheads;
    const ridge_trace_sync *syncs;

    for (size_t i = 0; i < count; i++)
        ridge_text_format(out, "call %s %" PRId64 "+%" PRId64 " t%" PRId64 " n%u\n",
                          ridge_trace_name(trace, apis[i].name, NULL), apis[i].start_ns,
                          apis[i].end_ns - apis[i].start_ns, threads[apis[i].thread].id,
                          apis[i].op_count);
    ranges = ridge_trace_ranges(trace, &count);
    for (size_t i = 0; i < count; i++)
        ridge_text_format(out, "range%d %s %" PRId64 "+%" PRId64 " t%" PRId64 "%s%s%s\n",
                          ranges[i].kind, ridge_trace_name(trace, ranges[i].name, NULL),
                          ranges[i].start_ns, ranges[i].end_ns - ranges[i].start_ns,
                          threads[ranges[i].thread].id, ranges[i].shapes != 0 ? " (" : "",
                          ridge_trace_name(trace, ranges[i].shapes, NULL),
                          ranges[i].shapes != 0 ? ")" : "");
    overheads = ridge_trace_overheads(trace, &count);
    for (size_t i = 0; i < count; i++)
        ridge_text_format(out, "overhead %s %" PRId64 "+%" PRId64 "\n",
                          ridge_overhead_name(overheads[i].kind), overheads[i].start_ns,
                          overheads[i].end_ns - overheads[i].start_ns);
    syncs = ridge_trace_syncs(trace, &count);
    for (size_t i = 0; i < count; i++)
        ridge_text_format(out, "sync %d %" PRId64 "+%" PRId64 "\n", syncs[i].kind,
                          syncs[i].start_ns, syncs[i].end_ns - syncs[i].start_ns);
}

static void add_info(ridge_text *out, const ridge_trace *trace)
{
    const ridge_trace_info *const info = ridge_trace_get_info(trace);

    if (info->skipped_count > 0)
        ridge_text_format(out, "skipped %" PRIu64 "\n", info->skipped_count);
    if (info->inverted_count > 0)
        ridge_text_format(out, "inverted %" PRIu64 "\n", info->inverted_count);
    if (info->begin_count > 0)
        ridge_text_format(out, "begin %" PRIu64 "\n", info->begin_count);
    if (info->is_partial)
        ridge_text_format(out, "partial: %s\n", info->partial);
}

static void assert_reads(const void *bytes, size_t size, const ridge_trace_options *options,
                         const char *expected)
{
    ridge_trace *trace = NULL;
    ridge_error err = {0};
    ridge_text text;

    if (ridge_trace_read(bytes, size, "test", options, &trace, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    ridge_text_init(&text);
    add_ops(&text, trace);
    add_host(&text, trace);
    add_info(&text, trace);
    assert_false(text.failed);
    assert_string_equal(text.data, expected);
    ridge_text_release(&text);
    ridge_trace_free(trace);
}

/* -- quirks of the format ---------------------------------------------------------------------- */

#define TRACE(events) "{\"schemaVersion\": 1, \"traceEvents\": [" events "]}"
#define KERNEL(name, ts, dur, args)                                                                \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": 7, "        \
    "\"ts\": " ts ", \"dur\": " dur ", \"args\": {" args "}}"
#define CALL(name, ts, dur, correlation)                                                           \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"" name "\", \"pid\": 5, \"tid\": 6, "  \
    "\"ts\": " ts ", \"dur\": " dur ", \"args\": {\"correlation\": " correlation "}}"
#define EVENT(category, name, rest)                                                                \
    "{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name "\", \"pid\": 5, \"tid\": 6, "  \
    "\"ts\": 1, \"dur\": 2" rest "}"

static struct quirk {
    const char *name, *json, *expected;
} quirks[] = {
    {"a kernel with its launch",
     TRACE(KERNEL("k", "3.5", "1.25",
                  "\"device\": 1, \"context\": 1, \"stream\": 9, \"correlation\": 4, "
                  "\"registers per thread\": 32, \"shared memory\": 2048, "
                  "\"grid\": [1,\n 2,\n 3\n], \"block\": [128, 1, 1]") "," CALL("cudaLaunchKernel",
                                                                                "1", "1.001", "4")),
     "k 3500+1250 d1 s9 <1,2,3 128,1,1 r32 m2048> by0\n"
     "call cudaLaunchKernel 1000+1001 t6 n1\n"},
    {"arguments before the category, any order",
     TRACE("{\"args\": {\"correlation\": 8, \"stream\": 2, \"device\": 0}, \"dur\": 2, "
           "\"name\": "
           "\"k\", \"ts\": 1, \"tid\": 7, \"cat\": \"kernel\", \"ph\": \"X\"}"),
     "k 1000+2000 d0 s2\n"},
    {"device and stream from pid and tid alone",
     TRACE("{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":3,\"tid\":\"stream "
           "7\",\"ts\":1,"
           "\"dur\":1}"),
     "k 1000+1000 d3 s7\n"},
    {"categories of 2021",
     TRACE("{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"Memcpy HtoD (Pageable -> "
           "Device)\",\"pid\":0,"
           "\"tid\":\"stream "
           "7\",\"ts\":1,\"dur\":2,\"args\":{\"bytes\":64,\"correlation\":3}},"
           "{\"ph\":\"X\",\"cat\":\"Memset\",\"name\":\"Memset "
           "(Device)\",\"pid\":0,\"tid\":7,\"ts\":4,"
           "\"dur\":1,\"args\":{\"bytes\":8}},"
           "{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"cudaMemcpyAsync\",\"pid\":5,"
           "\"tid\":\"6\","
           "\"ts\":0,\"dur\":1,\"args\":{\"correlation\":3}},"
           "{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"aten::to\",\"pid\":5,\"tid\":"
           "\"6\",\"ts\":0,"
           "\"dur\":5,\"args\":{}}"),
     "Memcpy HtoD (Pageable -> Device) 1000+2000 d0 s7 HtoD pageable>device 64B by0\n"
     "Memset (Device) 4000+1000 d0 s7 8B\n"
     "call cudaMemcpyAsync 0+1000 t6 n1\n"
     "range1 aten::to 0+5000 t6\n"},
    {"HIP: a copy without bytes, its kind in the arguments",
     TRACE(EVENT("gpu_memcpy", "CopyDeviceToHost",
                 ",\"args\":{\"device\":2,\"stream\":0,\"correlation\":7,\"kind\":"
                 "\"DtoH\"}") "," EVENT("cuda_runtime", "hipMemcpyWithStream",
                                        ",\"args\":{\"correlation\":\"7\"}")),
     "CopyDeviceToHost 1000+2000 d2 s0 DtoH unknown>unknown by0\n"
     "call hipMemcpyWithStream 1000+2000 t6 n1\n"},
    {"other makers",
     TRACE(EVENT("xpu_runtime", "urEnqueue", "") "," EVENT("mtia_runtime", "m", "") "," EVENT(
         "privateuse1_driver", "p", "") "," EVENT("hpu_op", "h", "")),
     "h 1000+2000 d5 s6\n"
     "call urEnqueue 1000+2000 t6 n0\ncall m 1000+2000 t6 n0\n"
     "call p 1000+2000 t6 n0\n"},
    {"a graph of the file and one by its launch",
     TRACE(KERNEL("a", "5", "1", "\"correlation\": 2") "," KERNEL(
         "b", "7", "1",
         "\"correlation\": 2") "," KERNEL("c", "9", "1",
                                          "\"graph id\": 4, \"graph node "
                                          "id\": 9") "," KERNEL("d", "11", "1",
                                                                "\"graph "
                                                                "id\": 0, "
                                                                "\"graph "
                                                                "node id\": "
                                                                "0") "," CALL("hipGraphLaunch", "1",
                                                                              "1", "2")),
     "a 5000+1000 d0 s7 by0 graph\nb 7000+1000 d0 s7 by0 graph\nc 9000+1000 d0 s7 g4 "
     "graph\n"
     "d 11000+1000 d0 s7\ncall hipGraphLaunch 1000+1000 t6 n2\n"},
    {"collectives by name and by argument",
     TRACE(KERNEL("ncclDevKernel_AllReduce", "1", "1", "") "," KERNEL(
         "mine", "2", "1", "\"Collective name\": \"allreduce\"") "," KERNEL("other", "3", "1", "")),
     "ncclDevKernel_AllReduce 1000+1000 d0 s7 collective\nmine 2000+1000 d0 s7 collective\n"
     "other 3000+1000 d0 s7\n"},
    {"shapes, lists of tensors and what has none",
     TRACE(EVENT("cpu_op", "aten::cat",
                 ", \"args\": {\"Input type\": [\"c10::BFloat16\", \"Scalar\", \"TensorList\", "
                 "\"long\"], \"Input Dims\": [[8192, 4096], [], [[1, 2], [3]], [5]]}")),
     "range1 aten::cat 1000+2000 t6 (bf16[8192,4096] - ?[1,2] ?[3] i64[5])\n"},
    {"numbers that decide what is to do",
     TRACE(EVENT(
         "cpu_op", "aten::cudnn_convolution",
         ", \"args\": {\"Input Dims\": [[1, 3, 8, 8], [2, 3, 2, 2], [], [], [], []], "
         "\"Input type\": [\"float\", \"float\", \"ScalarList\", \"\", \"Scalar\", "
         "\"Scalar\"], \"Concrete Inputs\": [\"\", \"\", \"[0, 0]\", \"\", \"False\", "
         "\"a path\"]}") "," EVENT("cpu_op", "triton_poi_fused_0",
                                   ", \"args\": {\"Input Dims\": [[9], []], "
                                   "\"Input type\": [\"float\", \"Scalar\"], "
                                   "\"Concrete Inputs\": [\"\", \"9\"]}") ","
                                                                          "" EVENT(
                                                                              "cpu_op",
                                                                              "aten::scatter",
                                                                              ", \"args\": "
                                                                              "{\"Input Dims\": "
                                                                              "[[9], []], \"Input "
                                                                              "type\": [\"float\", "
                                                                              "\"Scalar\"], "
                                                                              "\"Concrete "
                                                                              "Inputs\": [\"\", "
                                                                              "\"9\"]}")),
     "range1 aten::cudnn_convolution 1000+2000 t6 (f32[1,3,8,8] f32[2,3,2,2] =[0,0] - =False)\n"
     "range1 triton_poi_fused_0 1000+2000 t6 (f32[9] =9)\nrange1 aten::scatter 1000+2000 t6 "
     "(f32[9])\n"},
    {"strides of 0, of extents that are more than one",
     TRACE(EVENT("cpu_op", "aten::add",
                 ", \"args\": {\"Input Dims\": [[8, 4, 1], [[4], [2]], []], \"Input type\": "
                 "[\"float\", \"TensorList\", \"Scalar\"], \"Input Strides\": [[0, 1, 0], "
                 "[[0], [1]], []]}")),
     "range1 aten::add 1000+2000 t6 (f32[8*,4,1] ?[4*] ?[2])\n"},
    {"annotations and frames",
     TRACE(EVENT("user_annotation", "ProfilerStep#1", "") "," EVENT("python_function", "a.py(1): f",
                                                                    "")),
     "range2 ProfilerStep#1 1000+2000 t6\nrange3 a.py(1): f 1000+2000 t6\n"},
    {"steps are annotations whatever their category",
     TRACE(EVENT("Operator", "ProfilerStep#5", "") "," EVENT("cpu_op", "ProfilerStep#", "")),
     "range2 ProfilerStep#5 1000+2000 t6\nrange1 ProfilerStep# 1000+2000 t6\n"},
    {"neither work nor a range: projections, flows, instants, counters, metadata, spans",
     TRACE(EVENT("gpu_user_annotation", "step",
                 "") ","
                     "{\"ph\":\"s\",\"id\":1,\"pid\":5,\"tid\":6,\"ts\":1,\"cat\":\"ac2g\","
                     "\"name\":\"ac2g\"},"
                     "{\"ph\":\"f\",\"id\":1,\"pid\":0,\"tid\":7,\"ts\":1,\"cat\":\"ac2g\","
                     "\"name\":\"ac2g\","
                     "\"bp\":\"e\"},{\"name\":\"process_name\",\"ph\":\"M\",\"ts\":1,"
                     "\"pid\":5,\"tid\":0,"
                     "\"args\":{\"name\":\"python\"}},{\"ph\":\"C\",\"name\":\"q\",\"pid\":"
                     "0,\"ts\":1,\"args\":"
                     "{\"v\":1}},{\"name\":\"End\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"\","
                     "\"tid\":\"\",\"ts\":1}," EVENT("Trace", "PyTorch Profiler (0)", "")),
     ""},
    {"overheads by name",
     TRACE(EVENT("overhead", "Command Buffer Full", "") "," EVENT(
         "overhead", "Lazy Function Loading", "") "," EVENT("overhead", "Activity Buffer Request",
                                                            "") "," EVENT("overhead", "x", "")),
     "overhead command buffer full 1000+2000\noverhead lazy function loading 1000+2000\n"
     "overhead profiler 1000+2000\noverhead other 1000+2000\n"},
    {"synchronisation is no work",
     TRACE(EVENT("cuda_sync", "Stream Sync",
                 ", \"args\": {\"cuda_sync_kind\": \"Stream Sync\", \"stream\": 7, "
                 "\"device\": 0}") "," EVENT("cuda_sync", "Stream Wait Event",
                                             "") "," EVENT("cuda_sync", "Event Sync", "")),
     "sync 3 1000+2000\nsync 2 1000+2000\nsync 1 1000+2000\n"},
    {"times: half to even, texts, exponents, signs, 1.7e15 with decimals",
     TRACE(KERNEL("a", "\"1.0005\"", "0.0015", "") "," KERNEL(
         "b", "1.00050001", "1e1",
         "") "," KERNEL("c", "-2.5", "\"3\"", "") "," KERNEL("d", "1712195495519689.047", "12.5E-1",
                                                             "")),
     "c -2500+3000 d0 s7\na 1000+2 d0 s7\nb 1001+10000 d0 s7\n"
     "d 1712195495519689047+1250 d0 s7\n"},
    {"an array without a document", "[" KERNEL("k", "1", "1", "") "]", "k 1000+1000 d0 s7\n"},
    {"escapes", TRACE(KERNEL("a\\u00e9\\ud83d\\ude00\\\"\\/\\n\\t", "1", "1", "")),
     "a\xc3\xa9\xf0\x9f\x98\x80\"/\n\t 1000+1000 d0 s7\n"},
    {"metadata of any size around the events",
     "\xef\xbb\xbf{\"a\": {\"b\": [1, {\"c\": \"}]\\\"\"}]}, \"traceName\": \"x\", "
     "\"traceEvents\": ["
     "], \"n\": null, \"z\": [[]]}",
     ""},
};

static void reads_quirk(void **state)
{
    const struct quirk *const quirk = *state;

    assert_reads(quirk->json, strlen(quirk->json), NULL, quirk->expected);
}

/* -- broken files ------------------------------------------------------------------------------ */

#define K(name, ts) KERNEL(name, ts, "1", "")
#define LINE(name, ts) name " " ts "000+1000 d0 s7\n"

static struct quirk broken[] = {
    {"cut inside an event", "{\"traceEvents\": [" K("a", "1") ", {\"ph\": \"X\", \"cat\": \"ker",
     LINE("a", "1") "partial: cut after 1 events, at byte 134\n"},
    {"cut between events", "{\"traceEvents\": [" K("a", "1") ",",
     LINE("a", "1") "partial: cut after 1 events, at byte 110\n"},
    {"cut behind the events", "{\"traceEvents\": [" K("a", "1") "], \"traceName\": \"x",
     LINE("a", "1") "partial: cut after 1 events, at byte 127\n"},
    {"an array alone that is not closed", "[" K("a", "1") ",\n" K("b", "2"),
     LINE("a", "1") LINE("b", "2")},
    {"an array alone that ends behind a comma", "[" K("a", "1") ",\n" K("b", "2") ",\n",
     LINE("a", "1") LINE("b", "2")},
    {"an array alone that ends in an event", "[" K("a", "1") ",\n{\"ph\": \"X\", \"cat\": \"ker",
     LINE("a", "1") "partial: cut after 1 events, at byte 118\n"},
    {"an array alone that ends in the name of an event", "[" K("a", "1") ",\n{",
     LINE("a", "1") "partial: cut after 1 events, at byte 96\n"},
    {"an array alone of one event that is not closed", "[" K("a", "1"), LINE("a", "1")},
    {"work that one event begins and another ends",
     TRACE(K("a",
             "1") ",{\"ph\": \"B\", \"name\": \"b\", \"ts\": 3, \"cat\": \"kernel\", \"tid\": 7},"
                  "{\"ph\": \"E\", \"ts\": 4, \"tid\": 7},{\"cat\": \"gpu_memset\", \"ph\": \"B\", "
                  "\"ts\": 5},{\"ph\": \"B\", \"cat\": \"cpu_op\", \"ts\": 5, \"args\": {\"a\": "
                  "[1]}},{\"ph\": \"B\", \"ts\": 6}"),
     LINE("a", "1") "begin 2\n"},
    {"a quote in a name", TRACE(K("say \"a\" now", "1") "," K("b", "2")),
     LINE("say \"a\" now", "1") LINE("b", "2")},
    {"a quote in a text that is passed over",
     TRACE(KERNEL("a", "1", "1", "\"x\": {\"y\": \"un\"even\"}") "," K("b", "2")),
     LINE("a", "1") LINE("b", "2")},
    {"backslashes of a path", TRACE(K("C:\\Users\\new_\\x", "1") "," K("b", "2")),
     "C:\\Users\new_\\x 1000+1000 d0 s7\n" LINE("b", "2")},
    {"control characters", TRACE(K("a\x01\x1b[1m\n", "1")), "a\x01\x1b[1m\n 1000+1000 d0 s7\n"},
    {"trailing commas",
     TRACE(KERNEL(
         "a", "1", "1",
         "\"stream\": 3, ") ","
                            "{\"ph\": \"X\", \"cat\": \"kernel\", "
                            "\"name\": \"b\", \"pid\": 0, \"tid\": 7, \"ts\": 2, \"dur\": 1, }, "),
     "a 1000+1000 d0 s3\nb 2000+1000 d0 s7\n"},
    {"an empty object behind the last comma", TRACE(K("a", "1") ", { }"), LINE("a", "1")},
    {"negative durations: work is left out, a call has none",
     TRACE(KERNEL("a", "1", "-1", "") "," CALL("cudaFree", "1", "-3", "1")),
     "call cudaFree 1000+0 t6 n0\ninverted 1\n"},
    {"no duration", TRACE("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":1}"),
     "inverted 1\n"},
    {"no time", TRACE("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"dur\":1}," K("b", "2")),
     LINE("b", "2") "skipped 1\n"
                    "partial: 1 of 2 events are malformed and left out, the first at byte 37\n"},
    {"times that do not fit",
     TRACE(K("a", "1e300") "," K("b", "9223372036854775807") "," K("c", "4") "," K("d", "1x")),
     LINE("c", "4") "skipped 3\n"
                    "partial: 3 of 4 events are malformed and left out, the first at byte 37\n"},
    {"an event that does not end", TRACE("{\"ph\": \"X\", \"args\": {\"a\": 1}, " K("b", "2")),
     LINE("b", "2") "skipped 1\n"
                    "partial: 1 of 2 events are malformed and left out, the first at byte 37\n"},
    {"a bracket too few in the last event",
     "{\"traceEvents\": [" K("a", "1") ",{\"ph\":\"X\",\"args\":{\"b\":[1," K("c", "3") "]}",
     LINE("a", "1")
         LINE("c", "3") "skipped 1\n"
                        "partial: 1 of 3 events are malformed and left out, the first at "
                        "byte 110\n"},
    {"garbage between events", TRACE(K("a", "1") ", nonsense [3 " K("b", "2") "," K("c", "3")),
     LINE("a", "1") LINE("b", "2") LINE("c", "3") "skipped 1\npartial: 1 of 4 events are malformed "
                                                  "and left out, the first at byte 131\n"},
};

static struct refused {
    const char *name, *bytes;
    ridge_status status;
    const char *message;
} refused[] = {
    {"garbage", "hello", RIDGE_ERR_FORMAT, "the first byte is 0x68"},
    {"a document of something else", "{\"kernels\": [1, 2]}", RIDGE_ERR_FORMAT, "traceEvents"},
    {"rocprofv3", "{\"rocprofiler-sdk-tool\": [{", RIDGE_ERR_UNSUPPORTED, "rocprofv3"},
    {"an array of something else", "[1, 2]", RIDGE_ERR_FORMAT, "without events"},
    {"an array of nothing", "[{}]", RIDGE_ERR_FORMAT, "without events"},
    {"an empty array", "[]", RIDGE_ERR_FORMAT, "without events"},
    {"cut before the events", "{\"schemaVersion\": 1, \"dev", RIDGE_ERR_FORMAT, "traceEvents"},
    {"events that are no array", "{\"traceEvents\": 3}", RIDGE_ERR_FORMAT, "traceEvents"},
    {"broken before the events", "{\"a\" 1}", RIDGE_ERR_FORMAT, "at byte 1"},
};

static void refuses(void **state)
{
    const struct refused *const row = *state;
    ridge_trace *trace = NULL;
    ridge_error err = {0};

    assert_int_equal(ridge_trace_read(row->bytes, strlen(row->bytes), "test", NULL, &trace, &err),
                     row->status);
    assert_null(trace);
    if (strstr(err.text, row->message) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, row->message);
}

/* -- the whole --------------------------------------------------------------------------------- */

static const char whole[] =
    "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": "
    "\"NVIDIA "
    "H200\", \"totalGlobalMem\": 150109880320,\n      \"computeMajor\": 9, \"computeMinor\": 0, "
    "\"numSms\": 132\n    }\n  ],\n  \"cupti_version\": 28,\n  \"host_name\": \"secret\",\n  "
    "\"record_shapes\": 1,\n  \"traceEvents\": [\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", "
    "\"name\": \"aten::mm\", \"pid\": 5, \"tid\": 6,\n    \"ts\": 10.000, \"dur\": 30.500,\n    "
    "\"args\": {\n      \"External id\": 2, \"Input Dims\": [[8, 4], [4, 2]], \"Input type\": "
    "[\"float\", \"float\"]\n    }\n  },\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", "
    "\"name\": "
    "\"cudaLaunchKernel\", \"pid\": 5, \"tid\": 6,\n    \"ts\": 20.000, \"dur\": 4.250,\n    "
    "\"args\": "
    "{\n      \"cbid\": 211, \"correlation\": 9\n    }\n  },\n  {\n    \"ph\": \"X\", \"cat\": "
    "\"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7,\n    \"ts\": 26.000, \"dur\": "
    "8.000,\n    "
    "\"args\": {\n      \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": 9\n    }\n  "
    "}\n  "
    "],\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8},\n  "
    "\"baseTimeNanoseconds\": 1767189312000000000\n}\n";

static const char whole_rows[] = "gemm 26000+8000 d0 s7 by0\n"
                                 "call cudaLaunchKernel 20000+4250 t6 n1\n"
                                 "range1 aten::mm 10000+30500 t6 (f32[8,4] f32[4,2])\n";

static void tells_about_the_file(void **state)
{
    ridge_trace *trace = NULL;
    const ridge_trace_info *info;
    const ridge_trace_device *devices;
    size_t count;

    (void)state;
    assert_reads(whole, strlen(whole), NULL, whole_rows);
    assert_int_equal(ridge_trace_read(whole, strlen(whole), "test", NULL, &trace, NULL), RIDGE_OK);
    info = ridge_trace_get_info(trace);
    assert_int_equal(info->format, RIDGE_TRACE_KINETO);
    assert_string_equal(info->producer, "PyTorch profiler (CUPTI 28)");
    assert_string_equal(info->schema, "1");
    assert_int_equal(info->base_ns, INT64_C(1767189312000000000));
    assert_int_equal(info->resolution_ns, 1);
    assert_int_equal(info->rank, 3);
    assert_int_equal(info->world_size, 8);
    assert_true(info->has_api);
    assert_true(info->has_shapes);
    assert_false(info->has_stacks);
    assert_int_equal(info->event_count, 3);
    devices = ridge_trace_devices(trace, &count);
    assert_int_equal(count, 1);
    assert_string_equal(devices[0].name, "NVIDIA H200");
    assert_int_equal(devices[0].sm_count, 132);
    assert_int_equal(devices[0].compute_major, 9);
    for (uint32_t name = 1; name <= ridge_trace_name_count(trace); name++)
        assert_null(strstr(ridge_trace_name(trace, name, NULL), "secret"));
    ridge_trace_free(trace);
}

static void leaves_out_what_is_not_wanted(void **state)
{
    const ridge_trace_options options = {.no_python = true, .no_shapes = true};
    const char json[] = TRACE(EVENT("python_function", "a.py(1): f", "") "," EVENT(
        "cpu_op", "aten::mm", ",\"args\":{\"Input Dims\":[[2,2]]}"));

    (void)state;
    assert_reads(json, strlen(json), &options, "range1 aten::mm 1000+2000 t6\n");
}

#define OF_PROCESS(pid, ts, correlation)                                                           \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": " pid     \
    ", \"tid\": " pid ", \"ts\": " ts ", \"dur\": 1, \"args\": {\"correlation\": " correlation     \
    "}}"
#define ON_STREAM(name, ts, correlation)                                                           \
    KERNEL(name, ts, "1", "\"device\": 0, \"stream\": 7, \"correlation\": " correlation)

/* Two ranks in one file: numbers of calls and streams are those of each. */
static void tells_processes_apart(void **state)
{
    static const char json[] =
        TRACE(OF_PROCESS("50", "10", "1") "," OF_PROCESS("60", "500", "1") "," OF_PROCESS(
            "60", "520",
            "2") "," ON_STREAM("b", "505",
                               "1") "," ON_STREAM("a", "15",
                                                  "1") "," ON_STREAM("c", "530",
                                                                     "2") "," ON_STREAM("d", "540",
                                                                                        "0"));
    static const int64_t processes[] = {50, 60, 60, 50};
    ridge_trace *trace = NULL;
    size_t count;
    const ridge_trace_op *ops;

    (void)state;
    assert_int_equal(ridge_trace_read(json, strlen(json), "", NULL, &trace, NULL), RIDGE_OK);
    ops = ridge_trace_ops(trace, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < 4; i++) {
        const ridge_trace_stream *const stream = &ridge_trace_streams(trace, &count)[ops[i].stream];

        assert_int_equal(stream->id, 7);
        assert_int_equal(ridge_trace_processes(trace, &count)[stream->process].id, processes[i]);
        if (i == 3) {
            assert_int_equal(ops[i].api, RIDGE_TRACE_NONE);
            continue;
        }
        assert_int_equal(
            ridge_trace_threads(trace, &count)[ridge_trace_apis(trace, &count)[ops[i].api].thread]
                .id,
            processes[i]);
    }
    ridge_trace_streams(trace, &count);
    assert_int_equal(count, 2);
    ridge_trace_free(trace);
}

/* -- merged ranks ------------------------------------------------------------------------------ */

/* How a tool writes the pids of two ranks' processes and devices. */
static struct merged {
    const char *name, *hosts[2], *devices[2];
    int64_t processes[2];
} merges[] = {
    {"numbers", {"4700", "4701"}, {"0", "1"}, {4700, 4701}},
    {"numbers with an offset", {"4700", "104701"}, {"0", "100000"}, {4700, 104701}},
    {"labels in front",
     {"\"[TP0] 4700\"", "\"[TP1] 4701\""},
     {"\"[TP0] 0\"", "\"[TP1] 1\""},
     {4700, 4701}},
    {"labels behind",
     {"\"4700 (rank 0)\"", "\"4701 (rank 1)\""},
     {"\"0 (rank 0)\"", "\"1 (rank 1)\""},
     {4700, 4701}},
    {"labels alone", {"\"rank0\"", "\"rank1\""}, {"\"rank0\"", "\"rank1\""}, {0, 1}},
    {"one pid on two machines",
     {"\"[TP0] 12\"", "\"[TP1] 12\""},
     {"\"[TP0] 0\"", "\"[TP1] 0\""},
     {12, 12 | (int64_t)2 << 32}},
};

/* In step: the other rank's call is often the nearer one. */
static void tells_merged_ranks_apart(void **state)
{
    const struct merged *const row = *state;
    ridge_trace *trace = NULL;
    ridge_text json;
    size_t count, thread_count;

    ridge_text_init(&json);
    ridge_text_add(&json, "[");
    for (int i = 0; i < 20; i++)
        for (int rank = 0; rank < 2; rank++)
            ridge_text_format(
                &json,
                "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":%s,"
                "\"tid\":%d,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},"
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%d\",\"pid\":%s,\"tid\":7,\"ts\":%d,"
                "\"dur\":2,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d}}%s",
                row->hosts[rank], rank, 10 * i + rank, i + 1, rank, row->devices[rank],
                100 + 10 * i - rank, i + 1, i == 19 && rank == 1 ? "]" : ",");
    assert_int_equal(ridge_trace_read(json.data, json.length, "", NULL, &trace, NULL), RIDGE_OK);
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &thread_count);
    const ridge_trace_thread *const threads = ridge_trace_threads(trace, &thread_count);

    assert_int_equal(count, 40);
    for (size_t i = 0; i < count; i++) {
        const ridge_trace_stream *const stream =
            &ridge_trace_streams(trace, &thread_count)[ops[i].stream];
        const int rank = ridge_trace_name(trace, ops[i].name, NULL)[0] - '0';

        assert_true(ops[i].api != RIDGE_TRACE_NONE);
        assert_int_equal(threads[apis[ops[i].api].thread].id, rank);
        assert_true(ridge_trace_processes(trace, &thread_count)[stream->process].id ==
                    row->processes[rank]);
    }
    ridge_trace_streams(trace, &thread_count);
    assert_int_equal(thread_count, 2);
    ridge_text_release(&json);
    ridge_trace_free(trace);
}

/* Each shorter file is refused with a reason or read in part, and what is read is a beginning. */
static void reads_what_is_left(void **state)
{
    (void)state;
    for (size_t size = 1; size < strlen(whole); size++) {
        char *const bytes = malloc(size); /* so that a read behind the end is seen */
        ridge_trace *trace = NULL;
        ridge_error err = {0};
        ridge_status status;
        size_t count;

        assert_non_null(bytes);
        memcpy(bytes, whole, size);
        status = ridge_trace_read(bytes, size, "test", NULL, &trace, &err);
        free(bytes);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_FORMAT);
            assert_true(strlen(err.text) > 10);
            continue;
        }
        /* The line break at the end may go. */
        assert_int_equal(ridge_trace_get_info(trace)->is_partial, size < strlen(whole) - 1);
        ridge_trace_ops(trace, &count);
        assert_true(count <= 1);
        assert_true(ridge_trace_get_info(trace)->event_count <= 3);
        assert_int_equal(ridge_trace_get_info(trace)->skipped_count, 0);
        ridge_trace_free(trace);
    }
}

/* What is redacted reads as before, and says no more than that. */
static void redacts(void **state)
{
    char from[] = "kineto_from_XXXXXX", to[] = "kineto_to_XXXXXX", bytes[8192];
    const int in = mkstemp(from), out = mkstemp(to);
    ridge_trace_redaction summary = {0};
    ridge_error err = {0};
    FILE *file;
    size_t size;

    (void)state;
    assert_true(in >= 0 && out >= 0);
    assert_int_equal(write(in, whole, strlen(whole)), strlen(whole));
    close(in);
    close(out);
    assert_int_equal(remove(to), 0);
    if (ridge_trace_redact(from, to, &summary, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    file = fopen(to, "rb");
    assert_non_null(file);
    size = fread(bytes, 1, sizeof(bytes) - 1, file);
    fclose(file);
    bytes[size] = '\0';
    assert_null(strstr(bytes, "secret"));
    assert_non_null(strstr(bytes, "NVIDIA H200"));
    assert_reads(bytes, size, NULL, whole_rows);
    assert_int_equal(remove(to), 0);
    assert_int_equal(remove(from), 0);
}

static size_t pack_gzip(const char *text, size_t size, char *out, size_t capacity)
{
    z_stream stream = {0};

    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (const unsigned char *)text;
    stream.avail_in = (unsigned)size;
    stream.next_out = (unsigned char *)out;
    stream.avail_out = (unsigned)capacity;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return capacity - stream.avail_out;
}

static void unpacks(void **state)
{
    char packed[4096];
    const size_t half = strlen(whole) / 2;
    size_t size = pack_gzip(whole, strlen(whole), packed, sizeof(packed));
    ridge_trace *trace = NULL;

    (void)state;
    assert_reads(packed, size, NULL, whole_rows);
    /* Two members, and zeros behind them. */
    size = pack_gzip(whole, half, packed, sizeof(packed));
    size += pack_gzip(whole + half, strlen(whole) - half, packed + size, sizeof(packed) - size);
    memset(packed + size, 0, 16);
    assert_reads(packed, size + 16, NULL, whole_rows);
    size = ZSTD_compress(packed, sizeof(packed), whole, strlen(whole), 3);
    assert_false(ZSTD_isError(size));
    assert_reads(packed, size, NULL, whole_rows);
    /* Cut. */
    if (ridge_trace_read(packed, size - 20, "test", NULL, &trace, NULL) == RIDGE_OK)
        assert_non_null(strstr(ridge_trace_get_info(trace)->partial, "zstd data are cut"));
    ridge_trace_free(trace);
}

/* -- large files ------------------------------------------------------------------------------- */

/* Blocks of many sizes, with events that look like two and others that are broken, through threads:
 * the same rows as from one thread, which a packed file below the limit gets. */
static void reads_blocks_as_one(void **state)
{
    ridge_text text;
    char *packed;
    size_t size, count = 0;

    (void)state;
    ridge_text_init(&text);
    ridge_text_add(&text, "{\"traceEvents\": [\n");
    for (unsigned i = 1; text.length < 3u << 20; i++) {
        ridge_text_format(&text, "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k%u",
                          count ? "," : "", i % 7);
        if (i % 5000 == 0) /* a name of half a block with brackets in it */
            ridge_text_add_repeat(&text, "},{'ph':", 70000);
        ridge_text_format(&text,
                          "\", \"pid\": 0, \"tid\": 7, \"ts\": %u, \"dur\": 1, \"args\": {\"x\": "
                          "[{\"ph\": 1},{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1}]}}\n",
                          i * 2);
        if (i % 1000 == 0)
            ridge_text_add(&text, ",{\"ph\": \"X\", \"broken\" [1, 2]}\n");
        count++;
    }
    ridge_text_add(&text, "]}");
    assert_false(text.failed);
    packed = malloc(text.length);
    assert_non_null(packed);
    size = pack_gzip(text.data, text.length, packed, text.length);
    assert_true(size < 1u << 18);
    {
        ridge_trace *a = NULL, *b = NULL;
        size_t a_count, b_count;
        const ridge_trace_op *a_ops, *b_ops;

        assert_int_equal(ridge_trace_read(text.data, text.length, "", NULL, &a, NULL), RIDGE_OK);
        assert_int_equal(ridge_trace_read(packed, size, "", NULL, &b, NULL), RIDGE_OK);
        a_ops = ridge_trace_ops(a, &a_count);
        b_ops = ridge_trace_ops(b, &b_count);
        assert_int_equal(a_count, count);
        assert_int_equal(b_count, count);
        assert_memory_equal(a_ops, b_ops, count * sizeof(*a_ops));
        assert_int_equal(ridge_trace_get_info(a)->skipped_count, count / 1000);
        assert_int_equal(ridge_trace_get_info(b)->skipped_count, count / 1000);
        assert_string_equal(ridge_trace_get_info(a)->partial, ridge_trace_get_info(b)->partial);
        ridge_trace_free(a);
        ridge_trace_free(b);
    }
    free(packed);
    ridge_text_release(&text);
}

/* What could cost more than its size: nested, unclosed, one long line. */
static struct hostile {
    const char *name, *begin, *repeated;
    size_t times;
} hostile[] = {
    {"nested arrays", "{\"traceEvents\": [{\"ph\":\"X\",\"args\":", "[", 1000000},
    {"events in events", "{\"traceEvents\": [", "{\"ph\":[{},", 100000},
    {"events that are never closed", "{\"traceEvents\": [", "{\"ph\":\"X\",", 100000},
    {"one that is never closed around many", "{\"traceEvents\": [{\"a\":[{}", ",{\"ph\":\"i\"}",
     100000},
    {"quotes", "{\"traceEvents\": [{\"ph\":\"", "\"", 1000000},
    {"backslashes", "{\"traceEvents\": [{\"ph\":\"", "\\", 1000000},
    {"a long name", "{\"traceEvents\": [{\"ph\":\"X\",\"name\":\"", "n", 20000000},
    {"a long number", "{\"traceEvents\": [{\"ph\":\"X\",\"ts\":", "9", 20000000},
    {"a long key of the document", "{\"", "k", 20000000},
    {"metadata without end", "{\"a\":", "[", 20000000},
    {"commas", "{\"traceEvents\": [", ",", 20000000},
};

static void is_not_slowed_down(void **state)
{
    const struct hostile *const row = *state;
    const size_t begin = strlen(row->begin), repeated = strlen(row->repeated);
    const size_t size = begin + repeated * row->times;
    char *const bytes = malloc(size);
    ridge_trace *trace = NULL;

    assert_non_null(bytes);
    memcpy(bytes, row->begin, begin);
    for (size_t i = 0; i < row->times; i++)
        memcpy(bytes + begin + i * repeated, row->repeated, repeated);
    if (ridge_trace_read(bytes, size, "", NULL, &trace, NULL) == RIDGE_OK)
        assert_true(ridge_trace_get_info(trace)->is_partial);
    ridge_trace_free(trace);
    free(bytes);
}

static const char two_ranks[] = TRACE(OF_PROCESS("\"[TP0] 12\"", "10", "1") "," OF_PROCESS(
    "\"[TP1] 12\"", "11", "1") "," ON_STREAM("a", "15", "1") "," ON_STREAM("b", "16", "1"));

static struct frugal {
    const char *name, *bytes;
} frugal[] = {{"survives without memory", whole}, {"two ranks survive without memory", two_ranks}};

static void survives_without_memory(void **state)
{
    const char *const bytes = ((const struct frugal *)*state)->bytes;
    ridge_trace *trace = NULL;
    size_t count;

    ridge_memory_fail_at(0);
    assert_int_equal(ridge_trace_read(bytes, strlen(bytes), "", NULL, &trace, NULL), RIDGE_OK);
    count = ridge_memory_fail_at(0);
    ridge_trace_free(trace);
    assert_true(count > 10);
    for (size_t nth = 1; nth <= count; nth++) {
        ridge_error err = {0};

        trace = NULL;
        ridge_memory_fail_at(nth);
        assert_int_equal(ridge_trace_read(bytes, strlen(bytes), "", NULL, &trace, &err),
                         RIDGE_ERR_OUT_OF_MEMORY);
        ridge_memory_fail_at(0);
        assert_null(trace);
    }
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, reads_quirk, quirks);
    CASES_ADD_ROWS(&list, reads_quirk, broken);
    CASES_ADD_ROWS(&list, refuses, refused);
    CASES_ADD_ROWS(&list, is_not_slowed_down, hostile);
    cases_add(&list, "tells about the file", tells_about_the_file, NULL);
    cases_add(&list, "leaves out what is not wanted", leaves_out_what_is_not_wanted, NULL);
    cases_add(&list, "reads what is left of a file cut anywhere", reads_what_is_left, NULL);
    cases_add(&list, "tells processes apart", tells_processes_apart, NULL);
    for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++)
        cases_add(&list, merges[i].name, tells_merged_ranks_apart, &merges[i]);
    cases_add(&list, "redacts", redacts, NULL);
    cases_add(&list, "unpacks", unpacks, NULL);
    cases_add(&list, "reads blocks as one", reads_blocks_as_one, NULL);
    CASES_ADD_ROWS(&list, survives_without_memory, frugal);
    return cases_run(&list, "kineto");
}
