/* SPDX-License-Identifier: Apache-2.0
 *
 * Kineto traces without what tells who made them: the rows that ridge reads, written anew. Whatever
 * else a profiler put into the file (environment, host, user and job names, call stacks, process
 * groups) was never read and cannot come out again. Directories of paths in names of ranges go. */
#include "timeline/trace_redact_internal.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/text.h"

typedef struct redact_writer {
    const ridge_trace *trace;
    const ridge_trace_info *info;
    const ridge_trace_thread *threads;
    const ridge_trace_process *processes;
    ridge_trace_redaction *summary;
    gzFile file;
    ridge_text text; /* of the event at hand */
    uint64_t written_count;
    bool failed;
} redact_writer;

/* -- pieces ------------------------------------------------------------------------------------ */

static void add_string(ridge_text *out, const char *text, size_t length)
{
    ridge_text_add(out, "\"");
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            ridge_text_format(out, "\\%c", c);
        else if (c < 0x20)
            ridge_text_format(out, "\\u%04x", c);
        else
            ridge_text_add_bytes(out, &text[i], 1);
    }
    ridge_text_add(out, "\"");
}

/* Microseconds with the digits that the file had. */
static void add_time(redact_writer *to, const char *key, int64_t ns)
{
    const uint64_t size = ns < 0 ? (uint64_t)-ns : (uint64_t)ns;

    ridge_text_format(&to->text, ", \"%s\": %s%" PRIu64, key, ns < 0 ? "-" : "", size / 1000);
    if (to->info->resolution_ns == 1)
        ridge_text_format(&to->text, ".%03" PRIu64, size % 1000);
}

static void begin_event(redact_writer *to, const char *category, const char *name, size_t length,
                        int64_t start_ns, int64_t end_ns)
{
    ridge_text_clear(&to->text);
    ridge_text_format(&to->text, "%s  {\"ph\": \"X\", \"cat\": \"%s\", \"name\": ",
                      to->written_count > 0 ? ",\n" : "", category);
    add_string(&to->text, name, length);
    add_time(to, "ts", start_ns);
    add_time(to, "dur", end_ns - start_ns);
}

static void write_text(redact_writer *to)
{
    to->failed |= to->text.failed || (to->text.length > 0 &&
                                      gzwrite(to->file, to->text.data, (unsigned)to->text.length) !=
                                          (int)to->text.length);
}

static void end_event(redact_writer *to)
{
    ridge_text_add(&to->text, "}");
    write_text(to);
    to->written_count++;
}

static void add_thread(redact_writer *to, uint32_t row)
{
    const ridge_trace_thread *const thread = &to->threads[row];

    ridge_text_format(&to->text,
                      ", \"pid\": %" PRId64 ", \"tid\": ", to->processes[thread->process].id);
    if (thread->id == -1) {
        size_t length;
        const char *const name = ridge_trace_name(to->trace, thread->name, &length);

        add_string(&to->text, name, length);
    } else {
        ridge_text_format(&to->text, "%" PRId64, thread->id);
    }
}

/* -- events ------------------------------------------------------------------------------------ */

static void write_op(redact_writer *to, const ridge_trace_op *op)
{
    static const char *const categories[] = {"kernel", "gpu_memcpy", "gpu_memset", "kernel"};
    size_t count, length;
    const ridge_trace_stream *const stream = ridge_trace_streams(to->trace, &count) + op->stream;
    const ridge_trace_device *const device =
        ridge_trace_devices(to->trace, &count) + stream->device;
    const char *const name = ridge_trace_name(to->trace, op->name, &length);

    begin_event(to, categories[op->kind], name, length, op->start_ns, op->end_ns);
    ridge_text_format(&to->text,
                      ", \"pid\": %" PRId64 ", \"tid\": %" PRId64
                      ", \"args\": {\"device\": %" PRId64 ", \"context\": %u, \"stream\": %" PRId64,
                      device->id, stream->id, device->id, stream->context, stream->id);
    if (op->api != RIDGE_TRACE_NONE)
        ridge_text_format(&to->text, ", \"correlation\": %" PRIu64,
                          ridge_trace_apis(to->trace, &count)[op->api].correlation);
    if (op->bytes != RIDGE_TRACE_BYTES_UNKNOWN)
        ridge_text_format(&to->text, ", \"bytes\": %" PRIu64, op->bytes);
    if (op->kind == RIDGE_OP_MEMCPY && op->copy != RIDGE_COPY_UNKNOWN)
        ridge_text_format(&to->text, ", \"kind\": \"%s\"", ridge_copy_name(op->copy));
    if (op->graph != RIDGE_TRACE_NONE)
        ridge_text_format(&to->text, ", \"graph id\": %u", op->graph);
    if ((op->flags & RIDGE_OP_IN_GRAPH) != 0)
        ridge_text_add(&to->text, ", \"graph node id\": 1");
    if ((op->flags & RIDGE_OP_COLLECTIVE) != 0)
        ridge_text_add(&to->text, ", \"Collective name\": \"\"");
    if (op->config != RIDGE_TRACE_NONE) {
        const ridge_trace_config *const config =
            ridge_trace_configs(to->trace, &count) + op->config;

        ridge_text_format(
            &to->text,
            ", \"registers per thread\": %u, \"shared memory\": %u, \"grid\": [%u, %u, "
            "%u], \"block\": [%u, %u, %u]",
            config->registers, config->static_shared_bytes, config->grid[0], config->grid[1],
            config->grid[2], config->block[0], config->block[1], config->block[2]);
    }
    ridge_text_add(&to->text, "}");
    end_event(to);
}

static void write_api(redact_writer *to, const ridge_trace_api *api)
{
    size_t length;
    const char *const name = ridge_trace_name(to->trace, api->name, &length);

    begin_event(to, "cuda_runtime", name, length, api->start_ns, api->end_ns);
    add_thread(to, api->thread);
    ridge_text_format(&to->text, ", \"args\": {\"correlation\": %" PRIu64 "}", api->correlation);
    end_event(to);
}

/* "bf16[8,4] ?[2]" as the two lists that it was read from. */
static void add_shapes(redact_writer *to, const char *shapes)
{
    for (int pass = 0; pass < 2; pass++) {
        ridge_text_add(&to->text,
                       pass == 0 ? ", \"args\": {\"Input Dims\": [" : "], \"Input type\": [");
        for (const char *at = shapes; *at != '\0';) {
            const size_t type = strcspn(at, "["), end = strcspn(at, " ");

            ridge_text_add(&to->text, at == shapes ? "" : ", ");
            if (pass == 0)
                ridge_text_add_bytes(&to->text, at + type, end > type ? end - type : 0);
            else
                add_string(&to->text, at, type < end ? type : end);
            at += end;
            at += *at == ' ';
        }
    }
    ridge_text_add(&to->text, "]}");
}

/* Where the name without its directories begins: "a/b.py(3): f" at "b.py", "<built-in /x>" nowhere
 * else than behind its last slash. */
static size_t behind_directories(const char *name, size_t length)
{
    size_t begin = 0;

    for (size_t i = 0; i < length; i++)
        if (name[i] == '/' || name[i] == '\\')
            begin = i + 1;
    return begin;
}

static void write_range(redact_writer *to, const ridge_trace_range *range)
{
    static const char *const categories[] = {"user_annotation", "cpu_op", "user_annotation",
                                             "python_function"};
    size_t length;
    const char *const name = ridge_trace_name(to->trace, range->name, &length);
    const size_t begin = range->kind == RIDGE_RANGE_OP ? 0 : behind_directories(name, length);

    to->summary->path_count += begin > 0;
    begin_event(to, categories[range->kind], name + begin, length - begin, range->start_ns,
                range->end_ns);
    add_thread(to, range->thread);
    if (range->shapes != 0)
        add_shapes(to, ridge_trace_name(to->trace, range->shapes, NULL));
    end_event(to);
}

static void write_rest(redact_writer *to)
{
    static const char *const kinds[] = {"", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
    size_t count;
    const ridge_trace_overhead *const overheads = ridge_trace_overheads(to->trace, &count);
    const ridge_trace_sync *syncs;

    for (size_t i = 0; i < count && !to->failed; i++) {
        size_t length;
        const char *const name = ridge_trace_name(to->trace, overheads[i].name, &length);

        begin_event(to, "overhead", name, length, overheads[i].start_ns, overheads[i].end_ns);
        if (overheads[i].thread != RIDGE_TRACE_NONE)
            add_thread(to, overheads[i].thread);
        else
            ridge_text_add(&to->text, ", \"pid\": -1, \"tid\": 0");
        end_event(to);
    }
    syncs = ridge_trace_syncs(to->trace, &count);
    for (size_t i = 0; i < count && !to->failed; i++) {
        const char *const kind = kinds[syncs[i].kind <= 4 ? syncs[i].kind : 0];

        begin_event(to, "cuda_sync", kind, strlen(kind), syncs[i].start_ns, syncs[i].end_ns);
        ridge_text_format(&to->text, ", \"args\": {\"cuda_sync_kind\": \"%s\"}", kind);
        end_event(to);
    }
}

/* -- the document ------------------------------------------------------------------------------ */

static void write_head(redact_writer *to)
{
    const ridge_trace_info *const info = to->info;
    size_t count;
    const ridge_trace_device *const devices = ridge_trace_devices(to->trace, &count);

    ridge_text_add(&to->text, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
    for (size_t i = 0; i < count; i++) {
        ridge_text_format(&to->text, "%s{\"id\": %" PRId64 ", \"name\": ", i > 0 ? ", " : "",
                          devices[i].id);
        add_string(&to->text, devices[i].name, strlen(devices[i].name));
        ridge_text_format(&to->text,
                          ", \"computeMajor\": %u, \"computeMinor\": %u, \"numSms\": %u}",
                          devices[i].compute_major, devices[i].compute_minor, devices[i].sm_count);
    }
    ridge_text_add(&to->text, "],\n");
    if (info->rank >= 0)
        ridge_text_format(&to->text, "  \"distributedInfo\": {\"rank\": %d, \"world_size\": %d},\n",
                          info->rank, info->world_size);
    ridge_text_format(&to->text,
                      "  \"record_shapes\": %d,\n  \"with_stack\": %d,\n"
                      "  \"baseTimeNanoseconds\": %" PRId64 ",\n  \"traceEvents\": [\n",
                      info->has_shapes, info->has_stacks, info->base_ns);
    write_text(to);
}

static void write_trace(redact_writer *to)
{
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(to->trace, &count);
    const ridge_trace_api *apis;
    const ridge_trace_range *ranges;

    write_head(to);
    for (size_t i = 0; i < count && !to->failed; i++)
        write_op(to, &ops[i]);
    apis = ridge_trace_apis(to->trace, &count);
    for (size_t i = 0; i < count && !to->failed; i++)
        write_api(to, &apis[i]);
    ranges = ridge_trace_ranges(to->trace, &count);
    for (size_t i = 0; i < count && !to->failed; i++)
        write_range(to, &ranges[i]);
    write_rest(to);
    ridge_text_clear(&to->text);
    ridge_text_add(&to->text, "\n  ]\n}\n");
    write_text(to);
}

ridge_status kineto_redact(const char *path, const char *out_path, ridge_trace_redaction *summary,
                           ridge_error *err)
{
    const size_t length = strlen(out_path);
    const bool is_packed = length > 3 && strcmp(out_path + length - 3, ".gz") == 0;
    redact_writer writer = {.summary = summary};
    ridge_trace *trace = NULL;
    ridge_status status = ridge_trace_open(path, NULL, &trace, err);
    size_t count;

    if (status != RIDGE_OK)
        return status;
    writer.trace = trace;
    writer.info = ridge_trace_get_info(trace);
    writer.threads = ridge_trace_threads(trace, &count);
    writer.processes = ridge_trace_processes(trace, &count);
    ridge_text_init(&writer.text);
    if (writer.info->is_partial) {
        status = ridge_fail(err, RIDGE_ERR_FORMAT, "not redacted, for it is damaged: %s",
                            writer.info->partial);
        goto out;
    }
    writer.file = gzopen(out_path, is_packed ? "wb6" : "wbT");
    if (writer.file == NULL) {
        status = ridge_fail(err, RIDGE_ERR_IO, "%s: cannot be written", out_path);
        goto out;
    }
    write_trace(&writer);
    writer.failed |= gzclose(writer.file) != Z_OK;
    if (writer.failed)
        status = ridge_fail(err, RIDGE_ERR_IO, "%s: cannot be written", out_path);
    summary->format = RIDGE_TRACE_KINETO;
    summary->row_count = writer.info->event_count > writer.written_count
                             ? writer.info->event_count - writer.written_count
                             : 0;
out:
    ridge_text_release(&writer.text);
    ridge_trace_free(trace);
    return status;
}
