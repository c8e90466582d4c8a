/* SPDX-License-Identifier: Apache-2.0
 *
 * How far the host is ahead: launches of a device's work, the time between them, how many others had
 * returned and not started. A call that launches several pieces of work (a graph) counts once, for
 * the stream where it starts. Depth is counted a stream each, when a call returns: what stands in
 * front of its work, behind that which runs. */
#include "timeline/account/account.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct queue_launch {
    uint32_t api, slot; /* of the stream, among those of the device */
    int64_t call_ns, return_ns;
    int64_t start_ns, end_ns; /* of its work, first to last */
    bool is_met, is_kernel;
} queue_launch;

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int order_call(const void *left, const void *right)
{
    const queue_launch *const a = left, *const b = right;

    return a->call_ns != b->call_ns ? order(a->call_ns, b->call_ns) : order(a->api, b->api);
}

static int order_return(const void *left, const void *right)
{
    const queue_launch *const a = left, *const b = right;

    return a->return_ns != b->return_ns ? order(a->return_ns, b->return_ns) : order(a->api, b->api);
}

static void sort(queue_launch *launches, size_t count, int (*compare)(const void *, const void *))
{
    account_sort(launches, count, sizeof(*launches), compare);
}

/* The calls that launched work of the device in the window are numbered from 1, in their order: in a
 * row of all calls, or, where a device has few of them, in a list. A trace may have many devices. */
typedef struct call_numbers {
    uint32_t *of;  /* each call: its number or 0; in a list: the calls */
    size_t listed; /* how many calls the list holds; 0: it is none */
    size_t count;
} call_numbers;

enum { FEW = 8 }; /* a list below one in so many */

static bool is_launched(const account_device *device, const ridge_trace_op *op)
{
    return op->api != RIDGE_TRACE_NONE && account_in_window(device, op);
}

static int order_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

static bool list_calls(const account_device *device, call_numbers *numbers)
{
    const account_view *const view = device->view;
    uint32_t *const calls = ridge_calloc(device->row_count + 1, sizeof(*calls));
    size_t met = 0;

    numbers->of = calls;
    if (calls == NULL)
        return false;
    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &view->ops[device->rows[i]];

        if (is_launched(device, op))
            calls[met++] = op->api;
    }
    account_sort(calls, met, sizeof(*calls), order_number);
    for (size_t i = 0; i < met; i++)
        if (i == 0 || calls[i] != calls[i - 1])
            calls[numbers->count++] = calls[i];
    numbers->listed = numbers->count;
    return true;
}

static bool number_calls(const account_device *device, call_numbers *numbers)
{
    const account_view *const view = device->view;

    *numbers = (call_numbers){0};
    if (device->row_count < view->api_count / FEW)
        return list_calls(device, numbers);
    numbers->of = ridge_calloc(view->api_count + 1, sizeof(*numbers->of));
    if (numbers->of == NULL)
        return false;
    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &view->ops[device->rows[i]];

        if (is_launched(device, op))
            numbers->of[op->api] = 1;
    }
    for (size_t i = 0; i < view->api_count; i++)
        if (numbers->of[i] != 0)
            numbers->of[i] = (uint32_t)++numbers->count;
    return true;
}

/* Of a call that has one. */
static size_t number_of(const call_numbers *numbers, uint32_t api)
{
    size_t low = 0, high = numbers->listed;

    if (high == 0)
        return numbers->of[api];
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (numbers->of[middle] <= api)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

/* A row each, of zeros before, in order of calls. Work comes by start: the first is where it begins. */
static void fill_launches(account_device *device, const call_numbers *numbers,
                          queue_launch *launches)
{
    const account_view *const view = device->view;

    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &view->ops[device->rows[i]];
        queue_launch *launch;

        if (!is_launched(device, op))
            continue;
        launch = &launches[number_of(numbers, op->api) - 1];
        if (!launch->is_met)
            *launch = (queue_launch){.api = op->api,
                                     .slot = view->stream_slots[op->stream],
                                     .call_ns = view->apis[op->api].start_ns,
                                     .return_ns = view->apis[op->api].end_ns,
                                     .start_ns = op->start_ns,
                                     .end_ns = op->end_ns,
                                     .is_met = true};
        launch->is_kernel = launch->is_kernel || account_is_kernel(op);
        if (op->end_ns > launch->end_ns)
            launch->end_ns = op->end_ns;
    }
    sort(launches, numbers->count, order_call);
}

/* New; NULL when out of memory. */
static queue_launch *find_launches(account_device *device, size_t *count)
{
    call_numbers numbers;
    queue_launch *launches = NULL;

    if (number_calls(device, &numbers))
        launches = ridge_calloc(numbers.count + 1, sizeof(*launches));
    *count = numbers.count;
    if (launches != NULL)
        fill_launches(device, &numbers, launches);
    ridge_free(numbers.of);
    return launches;
}

/* Between launches of kernels: what a kernel has to last to keep the device busy. */
static void find_period(account_device *device, const queue_launch *launches, size_t count,
                        int64_t *numbers)
{
    size_t periods = 0, last = count;

    for (size_t i = 0; i < count; i++) {
        if (!launches[i].is_kernel)
            continue;
        if (last < count)
            numbers[periods++] = launches[i].call_ns - launches[last].call_ns;
        last = i;
    }
    device->account.median_launch_period_ns = account_median(numbers, periods);
}

/* Launches that found all earlier work of the device done. */
static void find_empty(account_device *device, const queue_launch *launches, size_t count)
{
    size_t empty = 0;
    int64_t end_ns = 0;

    for (size_t i = 0; i < count; i++) {
        empty += i == 0 || launches[i].call_ns >= end_ns;
        if (i == 0 || launches[i].end_ns > end_ns)
            end_ns = launches[i].end_ns;
    }
    device->account.queue_empty_frac = count > 0 ? (double)empty / (double)count : NAN;
}

static ridge_stream_account *stream_of(account_device *device, uint32_t slot)
{
    ridge_stream_account *const streams = device->made_streams; /* in the order of their slots */
    size_t low = 0, high = device->account.stream_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (device->view->stream_slots[streams[middle].stream] < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return &streams[low];
}

/* The depths of one stream, whose launches come by return. Work that starts before its call
 * returns was never waiting. Returns the time of long calls that met a full queue. */
static int64_t find_depths_of(const queue_launch *launches, size_t count, int64_t *starts,
                              int64_t *depths, size_t *most)
{
    int64_t full_ns = 0;
    size_t started = 0;

    for (size_t i = 0; i < count; i++)
        starts[i] = launches[i].start_ns > launches[i].return_ns ? launches[i].start_ns
                                                                 : launches[i].return_ns;
    account_sort(starts, count, sizeof(*starts), account_order);
    for (size_t i = 0; i < count; i++) {
        const int64_t call_ns = launches[i].return_ns - launches[i].call_ns;
        const bool waits = launches[i].start_ns > launches[i].return_ns;
        size_t waiting;

        while (started < count && starts[started] <= launches[i].return_ns)
            started++;
        waiting = started < i + 1 ? i + 1 - started : 0;
        depths[i] = (int64_t)waiting - (waits && waiting > 0 ? 1 : 0);
        *most = (size_t)depths[i] > *most ? (size_t)depths[i] : *most;
        if (waiting >= ACCOUNT_QUEUE_DEPTH_FULL && call_ns > ACCOUNT_QUEUE_FULL_CALL_NS)
            full_ns = account_add(full_ns, call_ns);
    }
    return full_ns;
}

/* Brings launches of a stream together, by return; false: out of memory. */
static bool sort_by_stream(const account_device *device, trace_array *launches)
{
    const size_t slots = device->view->device_streams[device->device];
    queue_launch *rows;

    if (!trace_group_array(launches, sizeof(*rows), offsetof(queue_launch, slot), slots))
        return false;
    rows = launches->rows;
    for (size_t first = 0, end; first < launches->count; first = end) {
        for (end = first; end < launches->count && rows[end].slot == rows[first].slot;)
            end++;
        sort(rows + first, end - first, order_return);
    }
    return true;
}

/* Launches come by stream. starts and depths: room for a number a launch. */
static void find_depths(account_device *device, const queue_launch *launches, size_t count,
                        int64_t *starts, int64_t *depths)
{
    ridge_device_account *const account = &device->account;

    for (size_t first = 0, end; first < count; first = end) {
        ridge_stream_account *const stream = stream_of(device, launches[first].slot);

        for (end = first; end < count && launches[end].slot == launches[first].slot;)
            end++;
        account->queue_full_ns = account_add(
            account->queue_full_ns, find_depths_of(launches + first, end - first, starts,
                                                   depths + first, &stream->queue_depth_most));
        if (stream->queue_depth_most > account->queue_depth_most)
            account->queue_depth_most = stream->queue_depth_most;
    }
    account->queue_depth_median = account_median(depths, count);
}

int64_t *account_queue_full(const account_view *view, int64_t start_ns, int64_t end_ns)
{
    int64_t *const sums = ridge_calloc(view->thread_count + 2, sizeof(*sums));
    int64_t *const ends = ridge_calloc(view->thread_count + 2, sizeof(*ends));

    for (size_t i = 0; sums != NULL && ends != NULL && i < view->overhead_count; i++) {
        const ridge_trace_overhead *const overhead = &view->overheads[i];
        const size_t thread =
            overhead->thread == RIDGE_TRACE_NONE ? view->thread_count : overhead->thread;
        int64_t from_ns = overhead->start_ns, to_ns = overhead->end_ns;

        if (overhead->kind != RIDGE_OVERHEAD_QUEUE_FULL)
            continue;
        sums[view->thread_count + 1] = 1; /* recorded at all */
        from_ns = from_ns > start_ns ? from_ns : start_ns;
        if (sums[thread] > 0 && from_ns < ends[thread])
            from_ns = ends[thread];
        to_ns = to_ns < end_ns ? to_ns : end_ns;
        if (to_ns <= from_ns)
            continue;
        sums[thread] += to_ns - from_ns;
        ends[thread] = to_ns;
    }
    if (ends == NULL) {
        ridge_free(sums);
        return NULL;
    }
    ridge_free(ends);
    return sums;
}

/* Where the driver recorded that its queue was full, that is the truth: of threads that launch this
 * device's work, and of no thread in particular. */
static void find_full(account_device *device, const queue_launch *launches, size_t count)
{
    const account_view *const view = device->view;
    const uint32_t mark = device->device + 1;
    int64_t total_ns = device->full_ns[view->thread_count];

    if (device->full_ns[view->thread_count + 1] == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const uint32_t thread = view->apis[launches[i].api].thread;

        if (view->thread_marks[thread] != mark)
            total_ns = account_add(total_ns, device->full_ns[thread]);
        view->thread_marks[thread] = mark;
    }
    device->account.queue_full_ns = total_ns;
}

static void count_graphs(account_device *device, const queue_launch *launches, size_t count)
{
    const account_view *const view = device->view;

    for (size_t i = 0; i < count; i++)
        device->account.graph_launch_count +=
            account_call_class(view, launches[i].api) == CALL_GRAPH_LAUNCH;
    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &view->ops[device->rows[i]];

        device->account.graph_launch_count += op->kind == RIDGE_OP_GRAPH &&
                                              op->api == RIDGE_TRACE_NONE &&
                                              account_in_window(device, op);
    }
}

bool account_queue(account_device *device)
{
    trace_array launches = {0};
    int64_t *numbers = NULL;
    bool done = false;

    launches.rows = find_launches(device, &launches.count);
    if (launches.rows != NULL)
        numbers = ridge_calloc(2 * launches.count + 1, sizeof(*numbers));
    if (numbers != NULL) {
        device->account.launch_count = launches.count;
        find_period(device, launches.rows, launches.count, numbers);
        find_empty(device, launches.rows, launches.count);
        count_graphs(device, launches.rows, launches.count);
        done = sort_by_stream(device, &launches);
    }
    if (done) {
        find_depths(device, launches.rows, launches.count, numbers, numbers + launches.count);
        find_full(device, launches.rows, launches.count);
    }
    ridge_free(numbers);
    ridge_free(launches.rows);
    return done;
}
