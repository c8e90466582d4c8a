/* SPDX-License-Identifier: Apache-2.0
 *
 * When a device was busy: the union of its work as pieces in order, each with the sum of those in
 * front, so that the idle time of any stretch is two searches. */
#include "timeline/sums/sums_internal.h"

#include "base/memory.h"

typedef struct busy_piece {
    int64_t start_ns;
    uint64_t before_ns; /* sum of the pieces in front: its length is the next one's less this */
} busy_piece;

typedef struct busy_list {
    busy_piece *pieces;
    size_t count;
    int64_t end_ns;    /* of the last piece */
    uint64_t total_ns; /* of all pieces */
    size_t near;       /* where the last answer was found */
} busy_list;

struct sum_busy {
    busy_list *lists;   /* a device each, then all devices together where they are asked for */
    busy_piece *pieces; /* of all of them */
    size_t device_count;
};

/* Work comes by start. */
static void add(busy_list *list, const ridge_trace_op *op)
{
    int64_t from_ns = op->start_ns;

    if (op->end_ns <= op->start_ns || list->pieces == NULL)
        return;
    if (list->count == 0 || op->start_ns > list->end_ns)
        list->pieces[list->count++] = (busy_piece){op->start_ns, list->total_ns};
    else if (op->end_ns > list->end_ns)
        from_ns = list->end_ns;
    else
        return;
    list->total_ns += (uint64_t)op->end_ns - (uint64_t)from_ns;
    list->end_ns = op->end_ns;
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
    uint64_t after_ns, in_ns;

    list->near =
        sum_count_until(list->pieces, sizeof(*list->pieces), list->count, list->near, time_ns);
    if (list->near == 0)
        return 0;
    piece = &list->pieces[list->near - 1];
    after_ns = list->near < list->count ? piece[1].before_ns : list->total_ns;
    in_ns = (uint64_t)time_ns - (uint64_t)piece->start_ns;
    return in_ns < after_ns - piece->before_ns ? piece->before_ns + in_ns : after_ns;
}

int64_t sum_idle_in(sum_busy *busy, uint32_t device, int64_t start_ns, int64_t end_ns)
{
    busy_list *const list = &busy->lists[device != RIDGE_TRACE_NONE ? device : busy->device_count];
    const uint64_t idle = (uint64_t)end_ns - (uint64_t)start_ns -
                          (busy_until(list, end_ns) - busy_until(list, start_ns));

    return idle > INT64_MAX ? INT64_MAX : (int64_t)idle;
}
