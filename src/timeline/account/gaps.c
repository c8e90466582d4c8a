/* SPDX-License-Identifier: Apache-2.0
 *
 * The idle time of a device: where no stream of no process had work. Gaps are found over the whole
 * trace, so that a window cuts them and changes nothing else; the limits of the painting are
 * measured here too. */
#include "timeline/account/account.h"

#include <math.h>

/* Of the work that starts together with row i: that which was launched last, for it ended the
 * gap's wait. Without any launch known: the first. */
static uint32_t launched_last(const account_device *device, size_t i)
{
    const account_view *const view = device->view;
    const int64_t start_ns = view->ops[device->rows[i]].start_ns;
    uint32_t last = device->rows[i];

    for (; i < device->row_count && view->ops[device->rows[i]].start_ns == start_ns; i++) {
        const uint32_t api = view->ops[device->rows[i]].api;
        const uint32_t last_api = view->ops[last].api;

        if (api != RIDGE_TRACE_NONE && (last_api == RIDGE_TRACE_NONE ||
                                        view->apis[api].start_ns > view->apis[last_api].start_ns))
            last = device->rows[i];
    }
    return last;
}

static bool add_gap(account_device *device, int64_t start_ns, uint32_t before, size_t i)
{
    ridge_idle_gap *const gap = account_grow(&device->gaps, sizeof(*gap));

    if (gap == NULL)
        return false;
    gap->start_ns = start_ns;
    gap->end_ns = device->view->ops[device->rows[i]].start_ns;
    gap->before = before;
    gap->after = launched_last(device, i);
    gap->range = device->view->ops[gap->after].api != RIDGE_TRACE_NONE
                     ? device->view->innermost[device->view->ops[gap->after].api]
                     : RIDGE_TRACE_NONE;
    return true;
}

/* The medians that the rules use, of all gaps. */
typedef struct gap_samples {
    int64_t *graph, *hardware, *latency;
    size_t graph_count, hardware_count, latency_count;
} gap_samples;

static void sample(const account_view *view, const ridge_idle_gap *gap, gap_samples *samples)
{
    const ridge_trace_op *const before = &view->ops[gap->before], *const after =
                                                                      &view->ops[gap->after];
    const int64_t length_ns = gap->end_ns - gap->start_ns;
    const ridge_trace_api *api;

    if (after->api == RIDGE_TRACE_NONE)
        return;
    api = &view->apis[after->api];
    if (after->api == before->api && account_is_graph(view, after))
        samples->graph[samples->graph_count++] = length_ns;
    else if (api->end_ns <= gap->start_ns)
        samples->hardware[samples->hardware_count++] = length_ns;
    else if (api->start_ns >= gap->start_ns)
        samples->latency[samples->latency_count++] =
            gap->end_ns > api->end_ns ? gap->end_ns - api->end_ns : 0;
}

static bool find_limits(account_device *device)
{
    const size_t count = device->gaps.count;
    const ridge_idle_gap *const gaps = device->gaps.rows;
    int64_t *const values = ridge_calloc(3 * count + 1, sizeof(*values));
    gap_samples samples = {
        .graph = values, .hardware = values + count, .latency = values + 2 * count};
    ridge_device_account *const account = &device->account;
    double latency_ns;

    if (values == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        sample(device->view, &gaps[i], &samples);
    account->median_graph_gap_ns = account_median(samples.graph, samples.graph_count);
    account->median_hardware_gap_ns = account_median(samples.hardware, samples.hardware_count);
    latency_ns = ACCOUNT_LATENCY_TIMES * account_median(samples.latency, samples.latency_count);
    ridge_free(values);
    account->hardware_gap_ns = ACCOUNT_HARDWARE_GAP_NS;
    if (!(latency_ns > ACCOUNT_LATENCY_LEAST_NS)) /* NAN too */
        account->launch_latency_ns = ACCOUNT_LATENCY_LEAST_NS;
    else if (latency_ns > ACCOUNT_LATENCY_MOST_NS)
        account->launch_latency_ns = ACCOUNT_LATENCY_MOST_NS;
    else
        account->launch_latency_ns = (int64_t)latency_ns;
    return true;
}

bool account_find_gaps(account_device *device)
{
    const ridge_trace_op *const ops = device->view->ops;
    uint32_t last = device->rows[0];
    int64_t end_ns = ops[last].end_ns;

    for (size_t i = 1; i < device->row_count; i++) {
        const ridge_trace_op *const op = &ops[device->rows[i]];

        if (op->start_ns > end_ns && !add_gap(device, end_ns, last, i))
            return false;
        if (op->end_ns >= end_ns) {
            end_ns = op->end_ns;
            last = device->rows[i];
        }
    }
    return find_limits(device);
}
