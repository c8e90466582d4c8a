/* SPDX-License-Identifier: Apache-2.0
 *
 * What ran at the same time on a device: unions by kind, what a copy or a collective hid under, the
 * streams, and pairs of streams that the legacy default stream kept apart. */
#include "timeline/account/account.h"

#include <math.h>

/* -- unions ------------------------------------------------------------------------------------ */

bool account_unite(account_union *all, int64_t start_ns, int64_t end_ns)
{
    const bool overlaps = all->is_met && start_ns < all->end_ns;
    const int64_t from_ns = overlaps ? all->end_ns : start_ns;

    if (end_ns > from_ns)
        all->total_ns += end_ns - from_ns;
    if (!all->is_met || end_ns > all->end_ns)
        all->end_ns = end_ns;
    all->is_met = true;
    return overlaps;
}

/* What the account's span leaves of a piece of work. */
static account_interval cut(const account_device *device, const ridge_trace_op *op)
{
    const ridge_device_account *const account = &device->account;

    return (account_interval){
        op->start_ns > account->start_ns ? op->start_ns : account->start_ns,
        op->end_ns < account->end_ns ? op->end_ns : account->end_ns,
    };
}

/* Time with two pieces of work or more, and the most at once; an end comes before a start of the
 * same time. */
static bool find_concurrency(account_device *device)
{
    ridge_device_account *const account = &device->account;
    int64_t *const starts = ridge_calloc(2 * device->row_count + 1, sizeof(*starts));
    int64_t *const ends = starts + device->row_count;
    size_t count = 0, running = 0, ended = 0;
    int64_t at_ns = 0;

    if (starts == NULL)
        return false;
    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &device->view->ops[device->rows[i]];
        const account_interval part = cut(device, op);

        if (!account_in_window(device, op) || part.end_ns <= part.start_ns)
            continue;
        starts[count] = part.start_ns;
        ends[count] = part.end_ns;
        count++;
    }
    account_sort(ends, count, sizeof(*ends), account_order);
    for (size_t i = 0; i < count || ended < count;) {
        const bool is_end = i == count || ends[ended] <= starts[i];
        const int64_t next_ns = is_end ? ends[ended] : starts[i];

        if (running >= 2)
            account->concurrent_ns += next_ns - at_ns;
        at_ns = next_ns;
        if (is_end) {
            running--;
            ended++;
        } else {
            running++;
            i++;
        }
        account->concurrent_most =
            running > account->concurrent_most ? running : account->concurrent_most;
    }
    ridge_free(starts);
    return true;
}

/* Copies of one way share the bus in that direction, or the memory of the device. */
typedef enum copy_way { WAY_TO, WAY_FROM, WAY_WITHIN, WAY_BETWEEN, WAYS } copy_way;

static copy_way way_of(const ridge_trace_op *op)
{
    if (op->kind == RIDGE_OP_MEMSET)
        return WAY_WITHIN;
    switch (op->copy) {
    case RIDGE_COPY_HTOD:
    case RIDGE_COPY_HTOA:
    case RIDGE_COPY_UNIFIED_HTOD:
        return WAY_TO;
    case RIDGE_COPY_DTOH:
    case RIDGE_COPY_ATOH:
    case RIDGE_COPY_UNIFIED_DTOH:
        return WAY_FROM;
    case RIDGE_COPY_DTOD:
    case RIDGE_COPY_ATOA:
    case RIDGE_COPY_ATOD:
    case RIDGE_COPY_DTOA:
        return WAY_WITHIN;
    case RIDGE_COPY_PTOP:
    case RIDGE_COPY_UNIFIED_DTOD:
        return WAY_BETWEEN;
    default:
        return WAYS;
    }
}

typedef struct account_unions_of {
    account_union all, kernels, copies, collectives, others;
    account_union ways[WAYS + 1]; /* the last of unknown ways */
} account_unions_of;

static void count_op(account_device *device, const ridge_trace_op *op, account_unions_of *unions)
{
    ridge_device_account *const account = &device->account;
    const account_interval part = cut(device, op);

    account->op_count++;
    account_unite(&unions->all, part.start_ns, part.end_ns);
    if (!account_is_kernel(op)) {
        account->copy_count++;
        account_unite(&unions->copies, part.start_ns, part.end_ns);
        account_unite(&unions->ways[way_of(op)], part.start_ns, part.end_ns);
        return;
    }
    account->kernel_count += op->kind == RIDGE_OP_KERNEL;
    account->graph_row_count += op->kind == RIDGE_OP_GRAPH;
    account->graph_kernel_count += account_is_graph(device->view, op);
    account->kernel_sum_ns = account_add(account->kernel_sum_ns, part.end_ns - part.start_ns);
    account_unite(&unions->kernels, part.start_ns, part.end_ns);
    account_unite((op->flags & RIDGE_OP_COLLECTIVE) != 0 ? &unions->collectives : &unions->others,
                  part.start_ns, part.end_ns);
}

bool account_unions(account_device *device)
{
    ridge_device_account *const account = &device->account;
    int64_t *const lengths = ridge_calloc(device->row_count + 1, sizeof(*lengths));
    account_unions_of unions = {0};
    size_t count = 0;

    if (lengths == NULL)
        return false;
    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &device->view->ops[device->rows[i]];

        if (!account_in_window(device, op))
            continue;
        count_op(device, op, &unions);
        if (op->kind == RIDGE_OP_KERNEL)
            lengths[count++] = op->end_ns - op->start_ns;
    }
    account->median_kernel_ns = account_median(lengths, count);
    ridge_free(lengths);
    account->busy_ns = unions.all.total_ns;
    account->kernel_ns = unions.kernels.total_ns;
    account->copy_only_ns = account->busy_ns - account->kernel_ns;
    account->copy_ns = unions.copies.total_ns;
    account->copy_hidden_ns = account->copy_ns - account->copy_only_ns;
    for (int way = 0; way < WAYS; way++)
        if (unions.ways[way].total_ns > account->copy_busiest_ns)
            account->copy_busiest_ns = unions.ways[way].total_ns;
    account->collective_ns = unions.collectives.total_ns;
    account->collective_hidden_ns =
        unions.collectives.total_ns + unions.others.total_ns - account->kernel_ns;
    return find_concurrency(device);
}

/* -- streams ----------------------------------------------------------------------------------- */

bool account_streams(account_device *device)
{
    const account_view *const view = device->view;
    const size_t most = view->device_streams[device->device];
    ridge_stream_account *const streams = ridge_calloc(most + 1, sizeof(*streams));
    account_union *const unions = ridge_calloc(most + 1, sizeof(*unions));
    size_t count = 0;

    device->account.streams = device->made_streams = streams;
    if (streams == NULL || unions == NULL) {
        ridge_free(unions);
        return false;
    }
    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &view->ops[device->rows[i]];
        const account_interval part = cut(device, op);
        const uint32_t slot = view->stream_slots[op->stream];

        if (!account_in_window(device, op))
            continue;
        streams[slot].stream = op->stream;
        streams[slot].op_count++;
        streams[slot].kernel_count += op->kind == RIDGE_OP_KERNEL;
        streams[slot].sum_ns = account_add(streams[slot].sum_ns, part.end_ns - part.start_ns);
        streams[slot].overlap_count += account_unite(&unions[slot], part.start_ns, part.end_ns);
    }
    for (size_t i = 0; i < most; i++) {
        if (streams[i].op_count == 0)
            continue;
        streams[i].busy_ns = unions[i].total_ns;
        device->account.overlap_count += streams[i].overlap_count;
        streams[count++] = streams[i];
    }
    device->account.stream_count = count;
    ridge_free(unions);
    return true;
}

/* -- pairs that the default stream keeps apart ------------------------------------------------- */

/* The legacy default stream waits for all others of its context, and they for it: work on A, then
 * on it, then on B is serial, whatever the program meant. */
typedef struct serial_pair {
    uint32_t a, b; /* streams, a < b */
    size_t count;
} serial_pair;

static int order_pair(const void *left, const void *right)
{
    const serial_pair *const x = left, *const y = right;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static int order_count(const void *left, const void *right)
{
    const serial_pair *const x = left, *const y = right;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return order_pair(left, right);
}

static bool is_same_context(const account_view *view, uint32_t a, uint32_t b)
{
    return view->streams[a].process == view->streams[b].process &&
           view->streams[a].context == view->streams[b].context;
}

static bool find_pairs(const account_device *device, trace_array *pairs)
{
    const account_view *const view = device->view;
    uint32_t last = RIDGE_TRACE_NONE; /* work on another stream than the default one */
    uint32_t between = RIDGE_TRACE_NONE;

    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &view->ops[device->rows[i]];
        serial_pair *pair;
        uint32_t a, b;

        if (!account_in_window(device, op))
            continue;
        if (view->streams[op->stream].is_null) {
            between = device->rows[i];
            continue;
        }
        a = last != RIDGE_TRACE_NONE ? view->ops[last].stream : op->stream;
        b = op->stream;
        if (a != b && between != RIDGE_TRACE_NONE && is_same_context(view, a, b) &&
            is_same_context(view, a, view->ops[between].stream) &&
            view->ops[last].end_ns <= view->ops[between].start_ns &&
            view->ops[between].end_ns <= op->start_ns) {
            pair = account_grow(pairs, sizeof(*pair));
            if (pair == NULL)
                return false;
            *pair = (serial_pair){a < b ? a : b, a < b ? b : a, 1};
        }
        last = device->rows[i];
        between = RIDGE_TRACE_NONE;
    }
    return true;
}

/* Equal pairs become one with their number; the most frequent first. */
static void count_pairs(trace_array *pairs)
{
    serial_pair *const rows = pairs->rows;
    size_t kept = 0;

    if (pairs->count == 0)
        return;
    account_sort(rows, pairs->count, sizeof(*rows), order_pair);
    for (size_t i = 0; i < pairs->count; i++) {
        if (kept > 0 && order_pair(&rows[kept - 1], &rows[i]) == 0)
            rows[kept - 1].count++;
        else
            rows[kept++] = rows[i];
    }
    pairs->count = kept;
    account_sort(rows, kept, sizeof(*rows), order_count);
}

static bool ever_overlap(const account_device *device, uint32_t a, uint32_t b)
{
    account_union unions[2] = {{0}};

    for (size_t i = 0; i < device->row_count; i++) {
        const ridge_trace_op *const op = &device->view->ops[device->rows[i]];
        const int own = op->stream == b;

        if (op->stream != a && op->stream != b)
            continue;
        if (unions[!own].is_met && op->start_ns < unions[!own].end_ns)
            return true;
        account_unite(&unions[own], op->start_ns, op->end_ns);
    }
    return false;
}

bool account_serial_pairs(account_device *device)
{
    enum { TRIED_MOST = 8 }; /* pairs; each is a pass over the work */
    trace_array pairs = {0};
    const serial_pair *rows;
    bool done;

    device->account.serial_streams[0] = device->account.serial_streams[1] = RIDGE_TRACE_NONE;
    done = find_pairs(device, &pairs);
    if (done) {
        count_pairs(&pairs);
        rows = pairs.rows;
        for (size_t i = 0; i < pairs.count && i < TRIED_MOST; i++) {
            if (ever_overlap(device, rows[i].a, rows[i].b))
                continue;
            device->account.serial_streams[0] = rows[i].a;
            device->account.serial_streams[1] = rows[i].b;
            device->account.serial_count = rows[i].count;
            break;
        }
    }
    ridge_free(pairs.rows);
    return done;
}
