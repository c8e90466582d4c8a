/* SPDX-License-Identifier: Apache-2.0
 *
 * The line that looks inside one kernel:
 *
 *     ncu --set full -k 'regex:^NAME$' -s N -c 1 -o NAME COMMAND
 *
 * N counts the launches of that base name on the device by the process, in the order of their
 * launch calls. It is right only where the trace began with the process: else the line asks for an
 * NVTX range that holds the launch, or for profiling to be switched on where the trace begins. */
#include "timeline/next/next_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "timeline/account/account.h"

enum {
    BASE_BYTES = 1024,
    OUTPUT_BYTES = 80,
    FIRST_CALL_NS = 5000000 /* a first call that creates a context takes longer than this */
};

typedef struct line_work {
    next_common *common;
    const next_process *of_process;
    const ridge_trace *trace;
    const ridge_trace_op *ops;
    const ridge_trace_api *apis;
    const ridge_trace_stream *streams;
    const ridge_trace_thread *threads;
    const ridge_trace_sum *kernel;
    const ridge_trace_op *op; /* the instance */
    uint32_t process, device;
    char base[BASE_BYTES];
} line_work;

/* -- words ------------------------------------------------------------------------------------- */

/* As a shell reads it back: as it is where no byte means anything to a shell, else in quotes. */
static void add_quoted(ridge_text *text, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_@%+=:,./-";

    if (*word != '\0' && strspn(word, plain) == strlen(word)) {
        ridge_text_add(text, word);
        return;
    }
    ridge_text_add(text, "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            ridge_text_add(text, "'\\''");
        else
            ridge_text_add_bytes(text, word, 1);
    }
    ridge_text_add(text, "'");
}

/* "regex:^NAME$" with what means something in an expression escaped. */
static void add_filter(ridge_text *text, const char *base)
{
    ridge_text word;

    ridge_text_init(&word);
    ridge_text_add(&word, "regex:^");
    for (; *base != '\0'; base++) {
        if (strchr(".*+?()[]{}^$|\\", *base) != NULL)
            ridge_text_add(&word, "\\");
        ridge_text_add_bytes(&word, base, 1);
    }
    ridge_text_add(&word, "$");
    text->failed = text->failed || word.failed;
    add_quoted(text, word.data);
    ridge_text_release(&word);
}

static void add_output(ridge_text *text, const char *base)
{
    char name[OUTPUT_BYTES + 1];
    size_t length = 0;

    for (; *base != '\0' && length < OUTPUT_BYTES; base++) {
        const bool is_plain = (*base >= '0' && *base <= '9') || (*base >= 'A' && *base <= 'Z') ||
                              (*base >= 'a' && *base <= 'z') || *base == '_' ||
                              (length > 0 && (*base == '-' || *base == '.'));

        name[length++] = is_plain ? *base : '_';
    }
    name[length] = '\0';
    ridge_text_format(text, " -o %s", length > 0 ? name : "kernel");
}

/* -- which instance ---------------------------------------------------------------------------- */

static bool is_alike(const line_work *work, const ridge_trace_op *op)
{
    const ridge_trace_stream *const stream = &work->streams[op->stream];

    return op->kind == RIDGE_OP_KERNEL && stream->process == work->process &&
           stream->device == work->device && op->short_name == work->op->short_name &&
           (op->short_name != 0 || op->name == work->op->name);
}

/* Launches of the base name in front of this one. */
static size_t count_before(const line_work *work)
{
    const int64_t launch_ns = sum_launch_ns(work->op, work->apis);
    const trace_op_list own = trace_ops_of(work->trace, work->device);
    size_t count = 0;

    for (size_t i = 0; i < own.count; i++) {
        const ridge_trace_op *const op = &work->ops[trace_op_at(&own, i)];
        const int64_t ns = sum_launch_ns(op, work->apis);

        if ((ns < launch_ns || (ns == launch_ns && op < work->op)) && is_alike(work, op))
            count++;
    }
    return count;
}

/* -- did the trace begin with the process? ----------------------------------------------------- */

/* Calls with which a program meets CUDA. */
static bool is_first_call(const char *name)
{
    static const char *const beginnings[] = {
        "cuInit",         "cuGetProcAddress",        "cuDriverGetVersion",     "cuDeviceGet",
        "cuCtxCreate",    "cuDevicePrimaryCtx",      "cuModuleGetLoadingMode", "cudaGetDevice",
        "cudaSetDevice",  "cudaDriverGetVersion",    "cudaRuntimeGetVersion",  "cudaDeviceGet",
        "cudaInitDevice", "cudaGetDriverEntryPoint",
    };

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* A trace of a whole process may hold cudaProfilerStart() too: it began there only where nothing was
 * launched before. */
static bool began_with_process(const line_work *work)
{
    const ridge_trace_api *const first = work->of_process->first;

    if (ridge_trace_get_info(work->trace)->format == RIDGE_TRACE_KINETO ||
        ridge_trace_get_info(work->trace)->is_delayed)
        return false;
    return first != NULL && !(work->of_process->started_ns < work->of_process->launched_ns) &&
           (is_first_call(ridge_trace_name(work->trace, first->name, NULL)) ||
            sum_span_ns(first->start_ns, first->end_ns) > FIRST_CALL_NS);
}

/* The innermost NVTX range around the launch; one without a number of its own ("seq = 7"), which
 * another run would not repeat, goes before it. */
static const ridge_trace_range *find_range(const line_work *work)
{
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(work->trace, &count);
    const ridge_trace_range *found = NULL;
    const ridge_trace_thread *thread;
    const ridge_trace_api *api;

    if (work->op->api == RIDGE_TRACE_NONE)
        return NULL;
    api = &work->apis[work->op->api];
    thread = &work->threads[api->thread];
    for (size_t i = next_skip_ranges(work->common, thread->first_range, api->end_ns);
         i < thread->first_range + thread->range_count && ranges[i].start_ns <= api->start_ns;
         i = next_skip_ranges(work->common, i + 1, api->end_ns)) {
        const char *const name = ridge_trace_name(work->trace, ranges[i].name, NULL);

        if (ranges[i].kind == RIDGE_RANGE_NVTX && ranges[i].end_ns >= api->end_ns &&
            (ranges[i].flags & (RIDGE_RANGE_OTHER_THREAD | RIDGE_RANGE_START_END)) == 0 &&
            name[0] != '\0' && strchr(name, '=') == NULL)
            found = &ranges[i];
    }
    return found;
}

/* "range/" or "domain@range/": a range that was pushed. What means something there is escaped. */
static void add_include(ridge_text *text, const char *name)
{
    const char *const colon = strchr(name, ':');
    const char *range = name;
    ridge_text word;

    ridge_text_init(&word);
    if (colon != NULL && colon[1] != ':') {
        if (colon > name) {
            ridge_text_add_bytes(&word, name, (size_t)(colon - name));
            ridge_text_add(&word, "@");
        }
        range = colon + 1;
    }
    for (; *range != '\0'; range++) {
        if (strchr("/@[],*+\\", *range) != NULL)
            ridge_text_add(&word, "\\");
        ridge_text_add_bytes(&word, range, 1);
    }
    ridge_text_add(&word, "/");
    text->failed = text->failed || word.failed;
    add_quoted(text, word.data);
    ridge_text_release(&word);
}

/* -- the line ---------------------------------------------------------------------------------- */

static void add_note(char *note, size_t size, const char *format, ...) RIDGE_PRINTF(3, 4);
static void add_note(char *note, size_t size, const char *format, ...)
{
    const size_t length = strlen(note);
    va_list arguments;

    if (length + 2 >= size)
        return;
    if (length > 0)
        memcpy(note + length, "; ", 3);
    va_start(arguments, format);
    vsnprintf(note + strlen(note), size - strlen(note), format, arguments);
    va_end(arguments);
}

/* A kernel whose launches differ is not told by one of them. */
static void add_sizes(const line_work *work, bool is_chosen, char *note, size_t note_size)
{
    const ridge_trace_size *const sizes = work->kernel->sizes;
    char count[64] = "";

    if (work->kernel->size_count == 0)
        return;
    if (work->kernel->size_count > 2)
        snprintf(count, sizeof(count), "%zu sizes, most time in ", work->kernel->size_count);
    add_note(note, note_size, "launches: %s%llu of %s, %llu of %s%s%s", count,
             (unsigned long long)sizes[0].count, account_time(sizes[0].median_ns).text,
             (unsigned long long)sizes[1].count, account_time(sizes[1].median_ns).text,
             is_chosen ? ": this is one of " : ": see which it is",
             is_chosen ? account_time(sizes[0].median_ns).text : "");
}

static void add_place(const line_work *work, ridge_text *text, char *note, size_t note_size)
{
    const bool began = began_with_process(work);
    const ridge_trace_range *const range = began ? NULL : find_range(work);

    if (range != NULL) {
        ridge_text_add(text, " --nvtx --nvtx-include ");
        add_include(text, ridge_trace_name(work->trace, range->name, NULL));
        add_note(note, note_size,
                 "no -s: the trace does not begin with the process; the first in the range");
        ridge_text_add(text, " -k ");
        add_filter(text, work->base);
        add_sizes(work, false, note, note_size);
        return;
    }
    if (!began) {
        ridge_text_add(text, " --profile-from-start off");
        add_note(note, note_size, "-s counts from where the trace begins: call %s there",
                 ridge_trace_get_info(work->trace)->format == RIDGE_TRACE_KINETO
                     ? "torch.cuda.profiler.start()"
                     : "cudaProfilerStart()");
    }
    ridge_text_add(text, " -k ");
    add_filter(text, work->base);
    ridge_text_format(text, " -s %zu", count_before(work));
    add_sizes(work, true, note, note_size);
}

ridge_status ncu_line_make(next_common *common, const ridge_trace_sum *kernel, bool with_command,
                           char **line, char *note, size_t note_size, ridge_error *err)
{
    const ridge_trace *const trace = common->trace;
    const ridge_trace_info *const info = ridge_trace_get_info(trace);
    line_work work = {.common = common, .trace = trace, .kernel = kernel};
    size_t count;
    ridge_text text;

    *line = NULL;
    work.ops = ridge_trace_ops(trace, &count);
    work.apis = ridge_trace_apis(trace, &count);
    work.streams = ridge_trace_streams(trace, &count);
    work.threads = ridge_trace_threads(trace, &count);
    work.op = &work.ops[kernel->typical_op];
    work.process = work.streams[work.op->stream].process;
    work.device = work.streams[work.op->stream].device;
    work.of_process = next_process_of(common, work.process);
    if (work.of_process == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    ridge_kernel_base_name(
        ridge_trace_name(trace, work.op->short_name != 0 ? work.op->short_name : work.op->name,
                         NULL),
        work.base, sizeof(work.base));

    ridge_text_init(&text);
    ridge_text_add(&text, "ncu --set full");
    if (common->has_several_processes) { /* others are the profiler's own, or hosts */
        ridge_text_add(&text, " --target-processes all");
        add_note(note, note_size, "several processes: each counts its own launches");
    }
    if (work.of_process->has_several_devices)
        ridge_text_format(&text, " --devices %lld",
                          (long long)ridge_trace_devices(trace, &count)[work.device].id);
    add_place(&work, &text, note, note_size);
    ridge_text_add(&text, " -c 1");
    add_output(&text, work.base);
    if (with_command && info->command_count > 0) {
        for (size_t i = 0; i < info->command_count; i++) {
            ridge_text_add(&text, " ");
            add_quoted(&text, info->command[i]);
        }
    } else {
        ridge_text_add(&text, " COMMAND");
    }
    if (!text.failed)
        *line = ridge_calloc(text.length + 1, 1);
    if (*line != NULL)
        memcpy(*line, text.data, text.length);
    ridge_text_release(&text);
    return *line != NULL ? RIDGE_OK : ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}
