/* SPDX-License-Identifier: Apache-2.0
 *
 * When a device was busy: the union of its work as pieces in order, each with the sum of those in
 * front, so that the idle time of any stretch is two searches. */
#include "timeline/sums/sums_internal.h"

#include "base/memory.h"

typedef struct busy_piece {
    int64_t start_ns, end_ns;
    uint64_t before_ns; /* sum of the pieces in front */
} busy_piece;

typedef struct busy_list {
    busy_piece *pieces;
    size_t count;
    size_t near; /* where the last answer was found */
} busy_list;

struct sum_busy {
    busy_list *lists;   /* a device each, then all devices together where they are asked for */
    busy_piece *pieces; /* of all of them */
    size_t device_count;
};

static void add(busy_list *list, const ridge_trace_op *op)
{
    busy_piece *const last = list->count > 0 ? &list->pieces[list->count - 1] : NULL;

    if (op->end_ns <= op->start_ns || list->pieces == NULL)
        return;
    if (last != NULL && op->start_ns <= last->end_ns) {
        last->end_ns = op->end_ns > last->end_ns ? op->end_ns : last->end_ns;
        return;
    }
    list->pieces[list->count++] = (busy_piece){op->start_ns, op->end_ns, 0};
}

/* Where the pieces of each list begin: no more than there is work. False: out of memory. */
static bool make_room(sum_busy *busy, const ridge_trace_op *ops, size_t op_count,
                      const ridge_trace_stream *streams, size_t list_count)
{
    size_t *const room = ridge_calloc(list_count, sizeof(*room));
    busy_piece *place = busy->pieces;

    if (room == NULL)
        return false;
    for (size_t i = 0; i < op_count; i++)
        room[streams[ops[i].stream].device]++;
    for (size_t i = 0; i < list_count; i++) {
        busy->lists[i].pieces = place;
        place += room[i];
    }
    ridge_free(room);
    return true;
}

static void sum_list(busy_list *list)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < list->count; i++) {
        busy_piece *const piece = &list->pieces[i];

        piece->before_ns = sum;
        sum += (uint64_t)piece->end_ns - (uint64_t)piece->start_ns;
    }
}

sum_busy *sum_busy_create(const ridge_trace *trace, bool with_all)
{
    size_t op_count, stream_count, list_count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &stream_count);
    sum_busy *const busy = ridge_calloc(1, sizeof(*busy));

    if (busy == NULL)
        return NULL;
    ridge_trace_devices(trace, &busy->device_count);
    list_count = busy->device_count + (with_all ? 1 : 0);
    busy->lists = ridge_calloc(list_count, sizeof(*busy->lists));
    busy->pieces = ridge_calloc(op_count * (with_all ? 2 : 1) + 1, sizeof(*busy->pieces));
    if (busy->lists == NULL || busy->pieces == NULL ||
        !make_room(busy, ops, op_count, streams, list_count)) {
        sum_busy_free(busy);
        return NULL;
    }
    for (size_t i = 0; i < op_count; i++) {
        add(&busy->lists[streams[ops[i].stream].device], &ops[i]);
        if (with_all)
            add(&busy->lists[busy->device_count], &ops[i]);
    }
    for (size_t i = 0; i < list_count; i++)
        sum_list(&busy->lists[i]);
    return busy;
}

void sum_busy_free(sum_busy *busy)
{
    if (busy == NULL)
        return;
    ridge_free(busy->lists);
    ridge_free(busy->pieces);
    ridge_free(busy);
}

/* How long it was busy until then. */
static uint64_t busy_until(busy_list *list, int64_t time_ns)
{
    const busy_piece *piece;

    list->near =
        sum_count_until(list->pieces, sizeof(*list->pieces), list->count, list->near, time_ns);
    if (list->near == 0)
        return 0;
    piece = &list->pieces[list->near - 1];
    return piece->before_ns + (uint64_t)(time_ns < piece->end_ns ? time_ns : piece->end_ns) -
           (uint64_t)piece->start_ns;
}

int64_t sum_idle_in(sum_busy *busy, uint32_t device, int64_t start_ns, int64_t end_ns)
{
    busy_list *const list = &busy->lists[device != RIDGE_TRACE_NONE ? device : busy->device_count];
    const uint64_t idle = (uint64_t)end_ns - (uint64_t)start_ns -
                          (busy_until(list, end_ns) - busy_until(list, start_ns));

    return idle > INT64_MAX ? INT64_MAX : (int64_t)idle;
}
