/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge_timeline_create(): each device's work gathered, its idle time found and painted, what
 * overlaps and what queues counted, then faults and verdicts from those numbers. */
#include "timeline/account/account.h"

#include "timeline/beside.h"
#include "timeline/next/next_internal.h"
#include "timeline/sums/sums_internal.h"

struct ridge_timeline {
    const ridge_trace *trace; /* borrowed */
    ridge_trace_window window;
    ridge_device_account *devices;
    size_t device_count;
    trace_array faults;  /* ridge_trace_fault */
    next_common *common; /* of several devices */
};

/* -- the work of each device ------------------------------------------------------------------- */

/* Rows of work, device by device, each by start; firsts[device] is where a device's begin. */
typedef struct device_rows {
    const uint32_t *rows;
    const size_t *firsts;
    uint32_t *own_rows; /* where the trace keeps none */
    size_t *own_firsts;
} device_rows;

static bool device_rows_init(device_rows *of, const ridge_trace *trace)
{
    *of = (device_rows){trace->device_rows, trace->device_firsts, NULL, NULL};
    if (of->rows != NULL && of->firsts != NULL)
        return true;
    if (!trace_group_by_device(trace, &of->own_rows, &of->own_firsts))
        return false;
    of->rows = of->own_rows;
    of->firsts = of->own_firsts;
    return true;
}

static void device_rows_release(device_rows *of)
{
    ridge_free(of->own_rows);
    ridge_free(of->own_firsts);
}

/* -- gaps as the caller gets them -------------------------------------------------------------- */

/* The longest first, equal ones in their order. */
static bool order_gaps(ridge_device_account *account)
{
    const size_t count = account->gap_count;
    sum_sample *const sized = ridge_calloc(2 * count + 1, sizeof(*sized));
    uint32_t *const rows = ridge_calloc(count + 1, sizeof(*rows));

    account->gaps_by_size = rows;
    if (sized == NULL || rows == NULL) {
        ridge_free(sized);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t length_ns = account->gaps[i].end_ns - account->gaps[i].start_ns;

        sized[i] = (sum_sample){INT64_MAX - length_ns, 0, (uint32_t)i};
    }
    sum_sort(sized, sized + count, count);
    for (size_t i = 0; i < count; i++)
        rows[i] = sized[i].row;
    ridge_free(sized);
    return true;
}

/* -- one device -------------------------------------------------------------------------------- */

/* The account of the device's work from first to last, or of what the window leaves of that: a
 * window within one gap is idle as a whole. False: the window lies outside. */
static bool find_span(account_device *device)
{
    const ridge_trace_op *const ops = device->view->ops;
    ridge_device_account *const account = &device->account;
    bool has_work = false;

    if (device->row_count == 0 || device->window_end_ns <= device->window_start_ns)
        return false;
    account->start_ns = ops[device->rows[0]].start_ns;
    account->end_ns = ops[device->rows[0]].end_ns;
    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &ops[device->rows[i]];

        has_work = has_work || account_in_window(device, op);
        account->end_ns = op->end_ns > account->end_ns ? op->end_ns : account->end_ns;
    }
    if (device->window_start_ns > account->start_ns)
        account->start_ns = device->window_start_ns;
    if (device->window_end_ns < account->end_ns)
        account->end_ns = device->window_end_ns;
    return has_work || account->start_ns < account->end_ns;
}

/* The busy time. */
static bool count_work(account_device *device)
{
    return account_unions(device) && account_streams(device) && account_serial_pairs(device) &&
           account_queue(device) && account_waited(device);
}

typedef struct idle_task {
    account_device *device;
    account_painter *painter;
} idle_task;

/* The idle time. */
static bool explain_gaps(void *context)
{
    const idle_task *const task = context;
    account_device *const device = task->device;
    ridge_device_account *const account = &device->account;
    const bool done = account_find_gaps(device) && account_paint(task->painter, device);

    /* Given to the account in any case: it is freed as a whole. */
    account->gaps = device->gaps.rows;
    account->gap_count = device->gaps.count;
    account->pieces = device->pieces.rows;
    account->piece_count = device->pieces.count;
    return done && order_gaps(account);
}

/* Busy and idle time need nothing of each other but the span. */
static bool fill(account_device *device, account_painter *painter, trace_array *faults)
{
    ridge_device_account *const account = &device->account;
    idle_task task = {device, painter};
    beside idle;
    bool done;

    beside_begin(&idle, explain_gaps, &task, device->row_count);
    done = count_work(device);
    if (!beside_end(&idle) || !done || !account_device_faults(device, faults))
        return false;
    account_judge(account, device->missing_ns);
    return true;
}

/* The window in the device's own time: itself, or from the first start to the last end of what was
 * launched in it; empty when nothing was. */
static account_interval window_of(const ridge_trace_window *window, const account_view *view,
                                  const uint32_t *rows, size_t count)
{
    account_interval found = {INT64_MAX, INT64_MIN};

    if (!window->is_set)
        return (account_interval){INT64_MIN, INT64_MAX};
    if (!window->follows_launches)
        return (account_interval){window->start_ns, window->end_ns};
    for (size_t i = 0; i < count; i++) {
        const ridge_trace_op *const op = &view->ops[rows[i]];
        const int64_t launch_ns =
            op->api != RIDGE_TRACE_NONE ? view->apis[op->api].start_ns : op->start_ns;

        if (launch_ns < window->start_ns || launch_ns >= window->end_ns)
            continue;
        found.start_ns = op->start_ns < found.start_ns ? op->start_ns : found.start_ns;
        found.end_ns = op->end_ns > found.end_ns ? op->end_ns : found.end_ns;
    }
    return found;
}

static bool add_devices(ridge_timeline *timeline, const account_view *view,
                        account_painter *painter, const device_rows *rows, const int64_t *full_ns)
{
    for (size_t i = 0; i < view->device_count; i++) {
        const uint32_t *const own = rows->rows + rows->firsts[i];
        const size_t count = rows->firsts[i + 1] - rows->firsts[i];
        const account_interval window = window_of(&timeline->window, view, own, count);
        account_device device = {
            .view = view,
            .device = (uint32_t)i,
            .rows = own,
            .row_count = count,
            .window_start_ns = window.start_ns,
            .window_end_ns = window.end_ns,
            .full_ns = full_ns,
        };
        bool done;

        device.account.device = (uint32_t)i;
        if (!find_span(&device))
            continue;
        done = fill(&device, painter, &timeline->faults);
        timeline->devices[timeline->device_count++] = device.account;
        if (!done)
            return false;
    }
    return true;
}

/* Is there idle time enough for the host's times to matter? */
static bool waits_for_host(const ridge_timeline *timeline)
{
    for (size_t i = 0; i < timeline->device_count; i++) {
        const ridge_device_account *const account = &timeline->devices[i];

        if (account->idle_ns >= (account->end_ns - account->start_ns) / 10)
            return true;
    }
    return false;
}

/* -- life -------------------------------------------------------------------------------------- */

static bool fill_timeline(ridge_timeline *timeline)
{
    const ridge_trace_window *const window = &timeline->window;
    const account_interval asked = {window->is_set ? window->start_ns : INT64_MIN,
                                    window->is_set ? window->end_ns : INT64_MAX};
    account_view view = {0};
    int64_t *full_ns = NULL;
    account_painter *painter = NULL;
    device_rows rows = {0};
    bool done = account_view_init(&view, timeline->trace);

    if (!done)
        goto out;
    painter = account_painter_create(&view);
    timeline->devices = ridge_calloc(view.device_count + 1, sizeof(*timeline->devices));
    full_ns = account_queue_full(&view, asked.start_ns, asked.end_ns);
    done = painter != NULL && timeline->devices != NULL && full_ns != NULL &&
           device_rows_init(&rows, timeline->trace) &&
           add_devices(timeline, &view, painter, &rows, full_ns) &&
           account_trace_faults(&view, waits_for_host(timeline), &timeline->faults);
    account_sort_faults(&timeline->faults);
    if (done && timeline->device_count > 1) {
        timeline->common = next_common_create(timeline->trace);
        done = timeline->common != NULL;
    }
out:
    ridge_free(full_ns);
    device_rows_release(&rows);
    account_painter_free(painter);
    account_view_release(&view);
    return done;
}

ridge_status ridge_timeline_create(const ridge_trace *trace, const ridge_trace_window *window,
                                   ridge_timeline **out, ridge_error *err)
{
    ridge_timeline *timeline = ridge_calloc(1, sizeof(*timeline));
    bool done = timeline != NULL;

    *out = NULL;
    if (done) {
        timeline->trace = trace;
        timeline->window = window != NULL ? *window : (ridge_trace_window){0};
        done = fill_timeline(timeline);
    }
    if (!done) {
        ridge_timeline_free(timeline);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    *out = timeline;
    return RIDGE_OK;
}

const ridge_trace *account_trace(const ridge_timeline *timeline, ridge_trace_window *window)
{
    *window = timeline->window;
    return timeline->trace;
}

struct next_common *account_common(const ridge_timeline *timeline)
{
    return timeline->common;
}

/* Rows that are constant for the caller. */
static void free_rows(const void *rows)
{
    union {
        const void *constant;
        void *own;
    } const block = {rows};

    ridge_free(block.own);
}

void ridge_timeline_free(ridge_timeline *timeline)
{
    if (timeline == NULL)
        return;
    for (size_t i = 0; i < timeline->device_count; i++) {
        free_rows(timeline->devices[i].gaps);
        free_rows(timeline->devices[i].gaps_by_size);
        free_rows(timeline->devices[i].pieces);
        free_rows(timeline->devices[i].streams);
    }
    ridge_free(timeline->devices);
    next_common_free(timeline->common);
    ridge_free(timeline->faults.rows);
    ridge_free(timeline);
}

/* -- reading ----------------------------------------------------------------------------------- */

const ridge_device_account *ridge_timeline_devices(const ridge_timeline *timeline, size_t *count)
{
    *count = timeline->device_count;
    return timeline->devices;
}

const ridge_trace_fault *ridge_timeline_faults(const ridge_timeline *timeline, size_t *count)
{
    *count = timeline->faults.count;
    return timeline->faults.rows;
}

const ridge_device_account *ridge_timeline_main_device(const ridge_timeline *timeline)
{
    const ridge_device_account *main = NULL;

    for (size_t i = 0; i < timeline->device_count; i++) {
        const ridge_device_account *const device = &timeline->devices[i];

        if (device->kernel_count + device->graph_row_count > 0 &&
            (main == NULL || device->idle_ns > main->idle_ns))
            main = device;
    }
    return main;
}
