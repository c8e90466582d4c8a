/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace prepared for its accounts: what its calls do, when the profiler worked, when code was
 * loaded. */
#include "timeline/account/account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/beside.h"
#include "timeline/sums/sums_internal.h"

void *account_grow(trace_array *array, size_t size)
{
    void *row;

    if (array->count == array->capacity) {
        const size_t capacity = array->capacity < 16 ? 16 : array->capacity + array->capacity / 2;
        void *const rows =
            capacity > UINT32_MAX - 1 ? NULL : ridge_realloc_array(array->rows, capacity, size);

        if (rows == NULL)
            return NULL;
        array->rows = rows;
        array->capacity = capacity;
    }
    row = (char *)array->rows + array->count++ * size;
    memset(row, 0, size);
    return row;
}

int account_order(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

typedef struct plain_order {
    int (*compare)(const void *, const void *);
} plain_order;

static int order_plain(const void *left, const void *right, const void *context)
{
    return ((const plain_order *)context)->compare(left, right);
}

void account_sort(void *rows, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    const plain_order order = {compare};

    if (!trace_sort(rows, count, size, order_plain, &order))
        qsort(rows, count, size, compare); /* slower, and needs no memory */
}

/* As unsigned numbers in the same order. */
static uint64_t biased(int64_t value)
{
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

/* The value that would stand at `place` if they were sorted, and the one behind it: from the highest
 * bits in which they differ down, each time those alone that are still in question, which are
 * brought to the front. */
static int64_t value_at(int64_t *values, size_t count, size_t place, int64_t *behind)
{
    enum { BITS = 11 };

    *behind = INT64_MAX;
    for (;;) {
        size_t places[1 << BITS] = {0}, kept = 0, digit = 0;
        uint64_t differs = 0;
        unsigned width, shift;

        for (size_t i = 1; i < count; i++)
            differs |= (uint64_t)(values[i] ^ values[0]);
        if (differs == 0) {
            *behind = place + 1 < count ? values[0] : *behind;
            return values[0];
        }
        for (width = 0; width < 64 && differs >> width != 0;)
            width++;
        shift = width > BITS ? width - BITS : 0;
        for (size_t i = 0; i < count; i++)
            places[biased(values[i]) >> shift & ((1 << BITS) - 1)]++;
        /* Higher bits are the same in all of them, those that a short number lends as well. */
        while (place >= places[digit])
            place -= places[digit++];
        for (size_t i = 0; i < count; i++) {
            const size_t other = biased(values[i]) >> shift & ((1 << BITS) - 1);

            if (other == digit)
                values[kept++] = values[i];
            else if (other > digit && values[i] < *behind)
                *behind = values[i];
        }
        count = kept;
    }
}

double account_median(int64_t *values, size_t count)
{
    int64_t low, high;

    if (count == 0)
        return NAN;
    low = value_at(values, count, (count - 1) / 2, &high);
    return count % 2 != 0 ? (double)low : ((double)low + (double)high) / 2;
}

/* Three digits, as in the tables: a verdict is no place for a fourth. */
account_text account_time(double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    account_text text;
    size_t i = 0;

    while (i < 3 && fabs(ns) < units[i].ns * 0.9995)
        i++;
    if (isnan(ns))
        snprintf(text.text, sizeof(text.text), "n/a");
    else
        snprintf(text.text, sizeof(text.text), "%.*f %s",
                 i == 3 || fabs(ns) >= 99.95 * units[i].ns ? 0
                 : fabs(ns) >= 9.995 * units[i].ns         ? 1
                                                           : 2,
                 ns / units[i].ns, units[i].unit);
    return text;
}

account_text account_percent(double frac)
{
    account_text text;

    if (isnan(frac))
        snprintf(text.text, sizeof(text.text), "n/a");
    else
        snprintf(text.text, sizeof(text.text), "%.1f %%", frac * 100);
    return text;
}

/* -- calls ------------------------------------------------------------------------------------- */

static bool classify(account_view *view)
{
    const size_t count = ridge_trace_name_count(view->trace) + 1;

    view->classes = ridge_calloc(count, sizeof(*view->classes));
    if (view->classes == NULL)
        return false;
    for (size_t i = 0; i < view->api_count; i++) {
        const uint32_t name = view->apis[i].name;
        size_t length;
        const char *text;

        if (i > 0 && view->apis[i - 1].name == name)
            continue;
        if (name < count && view->classes[name] == 0) {
            text = ridge_trace_name(view->trace, name, &length);
            view->classes[name] = (uint8_t)(call_class_of(text, length) + 1);
        }
    }
    return true;
}

/* Captures of one thread nest, whatever streams they are of: together they cover the same time. */
static bool find_captures(account_view *view)
{
    uint32_t *open;
    size_t begin_count = 0, open_count = 0;

    for (size_t i = 0; i < view->api_count; i++)
        begin_count += account_call_class(view, (uint32_t)i) == CALL_CAPTURE_BEGIN;
    if (begin_count == 0)
        return true;
    open = ridge_calloc(begin_count, sizeof(*open));
    view->capture_end_ns = ridge_calloc(view->api_count, sizeof(*view->capture_end_ns));
    for (size_t i = 0; open != NULL && view->capture_end_ns != NULL && i < view->api_count; i++) {
        const ridge_trace_api *const api = &view->apis[i];
        const call_class class = account_call_class(view, (uint32_t)i);

        if (i > 0 && api->thread != view->apis[i - 1].thread)
            open_count = 0;
        view->capture_end_ns[i] = api->end_ns;
        if (class == CALL_CAPTURE_BEGIN)
            open[open_count++] = (uint32_t)i;
        else if (class == CALL_CAPTURE_END && open_count > 0)
            view->capture_end_ns[open[--open_count]] = api->end_ns;
    }
    ridge_free(open);
    return open != NULL && view->capture_end_ns != NULL;
}

/* A call that returned when its copy was over has waited for it: a copy that is not asynchronous,
 * or whose memory on the host is pageable. Where the file says that no memory is, the copy was only
 * short. */
static bool find_blocking(account_view *view)
{
    view->is_blocking = ridge_calloc(view->api_count + 1, sizeof(*view->is_blocking));
    if (view->is_blocking == NULL)
        return false;
    for (size_t i = 0; i < view->api_count; i++) {
        size_t length;
        const char *const name = ridge_trace_name(view->trace, view->apis[i].name, &length);

        if (view->apis[i].op_count == 0 && account_call_class(view, (uint32_t)i) == CALL_COPY)
            view->is_blocking[i] = !call_is_async(name, length) && strstr(name, "emcpy") != NULL;
    }
    for (size_t i = 0; i < view->op_count; i++) {
        const ridge_trace_op *const op = &view->ops[i];
        const bool is_pinned =
            op->source != RIDGE_PLACE_UNKNOWN && op->destination != RIDGE_PLACE_UNKNOWN &&
            op->source != RIDGE_PLACE_PAGEABLE && op->destination != RIDGE_PLACE_PAGEABLE;
        size_t length;
        const char *name;

        if (op->kind != RIDGE_OP_MEMCPY || op->api == RIDGE_TRACE_NONE ||
            view->apis[op->api].end_ns < op->end_ns)
            continue;
        name = ridge_trace_name(view->trace, view->apis[op->api].name, &length);
        if (!is_pinned || !call_is_async(name, length))
            view->is_blocking[op->api] = true;
    }
    return true;
}

/* -- overheads --------------------------------------------------------------------------------- */

static bool is_profiler(uint8_t kind)
{
    return kind == RIDGE_OVERHEAD_PROFILER || kind == RIDGE_OVERHEAD_INSTRUMENTATION ||
           kind == RIDGE_OVERHEAD_RESOURCE || kind == RIDGE_OVERHEAD_FLUSH;
}

static bool is_code(uint8_t kind)
{
    return kind == RIDGE_OVERHEAD_JIT || kind == RIDGE_OVERHEAD_MODULE ||
           kind == RIDGE_OVERHEAD_LAZY;
}

static int order_code(const void *left, const void *right)
{
    const ridge_trace_overhead *const a = left, *const b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static bool split_overheads(account_view *view)
{
    size_t profiler = 0, code = 0;

    for (size_t i = 0; i < view->overhead_count; i++) {
        profiler += is_profiler(view->overheads[i].kind);
        code += is_code(view->overheads[i].kind);
    }
    view->profiler = ridge_calloc(profiler + 1, sizeof(*view->profiler));
    view->code = ridge_calloc(code + 1, sizeof(*view->code));
    if (view->profiler == NULL || view->code == NULL)
        return false;
    for (size_t i = 0; i < view->overhead_count; i++) {
        const ridge_trace_overhead *const overhead = &view->overheads[i];
        account_interval *last = NULL;

        if (overhead->end_ns <= overhead->start_ns)
            continue;
        if (is_code(overhead->kind))
            view->code[view->code_count++] = *overhead;
        if (!is_profiler(overhead->kind))
            continue;
        if (view->profiler_count > 0)
            last = &view->profiler[view->profiler_count - 1];
        if (last != NULL && overhead->start_ns <= last->end_ns)
            last->end_ns = overhead->end_ns > last->end_ns ? overhead->end_ns : last->end_ns;
        else
            view->profiler[view->profiler_count++] =
                (account_interval){overhead->start_ns, overhead->end_ns};
    }
    account_sort(view->code, view->code_count, sizeof(*view->code), order_code);
    return true;
}

/* Streams counted device by device, so that what a device needs is in proportion to its own. */
static bool number_streams(account_view *view)
{
    view->stream_slots = ridge_calloc(view->stream_count + 1, sizeof(*view->stream_slots));
    view->device_streams = ridge_calloc(view->device_count + 1, sizeof(*view->device_streams));
    view->thread_marks = ridge_calloc(view->thread_count + 1, sizeof(*view->thread_marks));
    if (view->stream_slots == NULL || view->device_streams == NULL || view->thread_marks == NULL)
        return false;
    for (size_t i = 0; i < view->stream_count; i++)
        view->stream_slots[i] = view->device_streams[view->streams[i].device]++;
    return true;
}

/* -- the whole --------------------------------------------------------------------------------- */

static bool find_innermost(void *context)
{
    account_view *const view = context;

    view->innermost = sum_innermost(view->trace, ~0u, NULL);
    return view->innermost != NULL;
}

bool account_view_init(account_view *view, const ridge_trace *trace)
{
    beside innermost;
    bool done;

    *view = (account_view){.trace = trace, .info = ridge_trace_get_info(trace)};
    view->ops = ridge_trace_ops(trace, &view->op_count);
    view->apis = ridge_trace_apis(trace, &view->api_count);
    view->ranges = ridge_trace_ranges(trace, &view->range_count);
    view->waits = ridge_trace_waits(trace, &view->wait_count);
    view->overheads = ridge_trace_overheads(trace, &view->overhead_count);
    view->threads = ridge_trace_threads(trace, &view->thread_count);
    view->streams = ridge_trace_streams(trace, &view->stream_count);
    ridge_trace_devices(trace, &view->device_count);
    beside_begin(&innermost, find_innermost, view, view->api_count);
    done = number_streams(view) && classify(view) && find_captures(view) && find_blocking(view) &&
           split_overheads(view);
    view->gpu_waits = done ? account_waits_create(view) : NULL;
    done = view->gpu_waits != NULL;
    return beside_end(&innermost) && done;
}

void account_view_release(account_view *view)
{
    account_waits_free(view->gpu_waits);
    ridge_free(view->code);
    ridge_free(view->profiler);
    ridge_free(view->capture_end_ns);
    ridge_free(view->is_blocking);
    ridge_free(view->classes);
    ridge_free(view->thread_marks);
    ridge_free(view->device_streams);
    ridge_free(view->stream_slots);
    ridge_free(view->innermost);
    *view = (account_view){0};
}
