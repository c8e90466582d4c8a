/* SPDX-License-Identifier: Apache-2.0
 *
 * How long the threads that launch a device's work stood in waits for the GPU, so that without them
 * the span could be shorter by that much and no more.
 *
 * Each launch comes earlier by the waits in front of it, in its own thread or in one that it follows:
 * so by no more than the time in which some thread that launches was in a wait, and work does not end
 * earlier by more than its launches come. Behind the last launch a wait keeps no work back. */
#include "timeline/account/account.h"

#include "timeline/sums/sums_internal.h"

/* -- the waits of all threads, once ------------------------------------------------------------ */

/* Calls come by thread, then by start; a call within another one, as the driver's in the runtime's,
 * counts once. */
static bool fill(account_waits *waits, const account_view *view)
{
    size_t count = 0;

    for (size_t i = 0; i < view->api_count; i++)
        count += account_is_wait(view, (uint32_t)i);
    waits->rows = ridge_calloc(count + 1, sizeof(*waits->rows));
    waits->before_ns = ridge_calloc(count + 1, sizeof(*waits->before_ns));
    waits->firsts = ridge_calloc(view->thread_count + 1, sizeof(*waits->firsts));
    waits->is_met = ridge_calloc(view->thread_count + 1, sizeof(*waits->is_met));
    if (waits->rows == NULL || waits->before_ns == NULL || waits->firsts == NULL ||
        waits->is_met == NULL)
        return false;
    waits->steps_left = ((size_t)1 << 20) + 64 * count;
    count = 0;
    for (size_t thread = 0; thread < view->thread_count; thread++) {
        const size_t first = view->threads[thread].first_api;

        waits->firsts[thread] = count;
        for (size_t i = first; i < first + view->threads[thread].api_count; i++) {
            const ridge_trace_api *const api = &view->apis[i];
            account_interval *const last =
                count > waits->firsts[thread] ? &waits->rows[count - 1] : NULL;

            if (!account_is_wait(view, (uint32_t)i) || api->end_ns <= api->start_ns)
                continue;
            if (last == NULL || api->start_ns > last->end_ns)
                waits->rows[count++] = (account_interval){api->start_ns, api->end_ns};
            else if (api->end_ns > last->end_ns)
                last->end_ns = api->end_ns;
        }
    }
    waits->firsts[view->thread_count] = count;
    for (size_t i = 0; i < count; i++)
        waits->before_ns[i + 1] = account_add(
            waits->before_ns[i], sum_span_ns(waits->rows[i].start_ns, waits->rows[i].end_ns));
    return true;
}

account_waits *account_waits_create(const account_view *view)
{
    account_waits *const waits = ridge_calloc(1, sizeof(*waits));

    if (waits != NULL && !fill(waits, view)) {
        account_waits_free(waits);
        return NULL;
    }
    return waits;
}

void account_waits_free(account_waits *waits)
{
    if (waits == NULL)
        return;
    ridge_free(waits->rows);
    ridge_free(waits->before_ns);
    ridge_free(waits->firsts);
    ridge_free(waits->is_met);
    ridge_free(waits);
}

/* The first wait of a thread that ends behind at_ns, or the first of the next thread. */
static size_t first_behind(const account_waits *waits, uint32_t thread, int64_t at_ns)
{
    size_t low = waits->firsts[thread], high = waits->firsts[thread + 1];

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (waits->rows[middle].end_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* -- of a device ------------------------------------------------------------------------------- */

/* The threads that launched its work, and when the last of it was launched. */
static bool find_threads(account_device *device, trace_array *threads, int64_t *last_ns)
{
    const account_view *const view = device->view;
    bool *const is_met = view->gpu_waits->is_met;
    bool done = true;

    *last_ns = INT64_MIN;
    for (size_t i = 0; i < device->row_count && done; i++) {
        const ridge_trace_op *const op = &view->ops[device->rows[i]];
        const ridge_trace_api *const api =
            op->api != RIDGE_TRACE_NONE ? &view->apis[op->api] : NULL;
        uint32_t *row;

        if (api == NULL || !account_in_window(device, op))
            continue;
        if (api->start_ns > *last_ns)
            *last_ns = api->start_ns;
        if (is_met[api->thread])
            continue;
        row = account_grow(threads, sizeof(*row));
        done = row != NULL;
        if (done) {
            *row = api->thread;
            is_met[api->thread] = true;
        }
    }
    for (size_t i = 0; i < threads->count; i++)
        is_met[((const uint32_t *)threads->rows)[i]] = false;
    return done;
}

/* What lies of a thread's waits between two times. */
static int64_t sum_of_thread(const account_waits *waits, uint32_t thread, int64_t start_ns,
                             int64_t end_ns)
{
    const size_t first = first_behind(waits, thread, start_ns);
    size_t last = first_behind(waits, thread, end_ns);
    int64_t sum_ns;

    last += last < waits->firsts[thread + 1] && waits->rows[last].start_ns < end_ns;
    if (last <= first)
        return 0;
    sum_ns = waits->before_ns[last] - waits->before_ns[first];
    if (waits->rows[first].start_ns < start_ns)
        sum_ns -= sum_span_ns(waits->rows[first].start_ns, start_ns);
    if (waits->rows[last - 1].end_ns > end_ns)
        sum_ns -= sum_span_ns(end_ns, waits->rows[last - 1].end_ns);
    return sum_ns > 0 ? sum_ns : 0; /* times at the ends of their range do not add up */
}

static int order_start(const void *left, const void *right)
{
    const account_interval *const a = left, *const b = right;

    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Waits of several threads between two times: the time in which one of them or more was in one. */
static bool sum_of_threads(account_waits *waits, const uint32_t *threads, size_t count,
                           account_interval within, int64_t *sum_ns)
{
    trace_array met = {0};
    account_union all = {0};
    const account_interval *rows;

    *sum_ns = sum_span_ns(within.start_ns, within.end_ns);
    for (size_t i = 0; i < count; i++)
        for (size_t at = first_behind(waits, threads[i], within.start_ns);
             at < waits->firsts[threads[i] + 1] && waits->rows[at].start_ns < within.end_ns; at++) {
            account_interval *row;

            if (waits->steps_left == 0) { /* a trace of many devices: all of the time */
                ridge_free(met.rows);
                return true;
            }
            waits->steps_left--;
            row = account_grow(&met, sizeof(*row));
            if (row == NULL) {
                ridge_free(met.rows);
                return false;
            }
            *row = waits->rows[at];
        }
    account_sort(met.rows, met.count, sizeof(*rows), order_start);
    rows = met.rows;
    for (size_t i = 0; i < met.count; i++)
        account_unite(&all, rows[i].start_ns > within.start_ns ? rows[i].start_ns : within.start_ns,
                      rows[i].end_ns < within.end_ns ? rows[i].end_ns : within.end_ns);
    *sum_ns = all.total_ns;
    ridge_free(met.rows);
    return true;
}

bool account_waited(account_device *device)
{
    account_waits *const waits = device->view->gpu_waits;
    ridge_device_account *const account = &device->account;
    trace_array threads = {0};
    account_interval within = {account->start_ns, account->end_ns};
    int64_t last_ns;
    bool done = find_threads(device, &threads, &last_ns);

    if (last_ns < within.end_ns)
        within.end_ns = last_ns;
    if (done && within.end_ns > within.start_ns && threads.count == 1)
        account->waited_ns =
            sum_of_thread(waits, *(const uint32_t *)threads.rows, within.start_ns, within.end_ns);
    else if (done && within.end_ns > within.start_ns)
        done = sum_of_threads(waits, threads.rows, threads.count, within, &account->waited_ns);
    ridge_free(threads.rows);
    return done;
}
