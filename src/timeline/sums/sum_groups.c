/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups by key, times that saturate, a search among times, and a stable sort of durations. */
#include "timeline/sums/sums_internal.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static size_t slot_of(const sum_groups *groups, uint64_t key)
{
    size_t at = ridge_hash64(&key, sizeof(key)) & (groups->slot_count - 1);

    while (groups->slots[at] != 0 && groups->keys[groups->slots[at] - 1] != key)
        at = (at + 1) & (groups->slot_count - 1);
    return at;
}

/* Twice the slots, and room for as many keys as half of them. */
static bool grow(sum_groups *groups)
{
    const size_t slot_count = groups->slot_count == 0 ? 128 : groups->slot_count * 2;
    uint64_t *const keys = ridge_realloc_array(groups->keys, slot_count / 2, sizeof(*keys));
    uint32_t *slots;

    if (keys == NULL)
        return false;
    groups->keys = keys;
    slots = ridge_calloc(slot_count, sizeof(*slots));
    if (slots == NULL)
        return false;
    ridge_free(groups->slots);
    groups->slots = slots;
    groups->slot_count = slot_count;
    groups->capacity = slot_count / 2;
    for (uint32_t i = 0; i < groups->count; i++)
        groups->slots[slot_of(groups, groups->keys[i])] = i + 1;
    return true;
}

uint32_t sum_group_of(sum_groups *groups, uint64_t key)
{
    size_t at;

    if (groups->count == groups->capacity && !grow(groups))
        return UINT32_MAX;
    at = slot_of(groups, key);
    if (groups->slots[at] == 0) {
        groups->keys[groups->count] = key;
        groups->slots[at] = ++groups->count;
    }
    return groups->slots[at] - 1;
}

void sum_groups_release(sum_groups *groups)
{
    ridge_free(groups->keys);
    ridge_free(groups->slots);
    *groups = (sum_groups){0};
}

int64_t sum_span_ns(int64_t start_ns, int64_t end_ns)
{
    uint64_t span;

    if (end_ns <= start_ns)
        return 0;
    span = (uint64_t)end_ns - (uint64_t)start_ns;
    return span > INT64_MAX ? INT64_MAX : (int64_t)span;
}

int64_t sum_add_ns(int64_t a, int64_t b)
{
    return b > INT64_MAX - a ? INT64_MAX : a + b;
}

int64_t sum_launch_ns(const ridge_trace_op *op, const ridge_trace_api *apis)
{
    return op->api != RIDGE_TRACE_NONE ? apis[op->api].start_ns : op->start_ns;
}

bool sum_in_window(const ridge_trace_window *window, int64_t time_ns)
{
    return window == NULL || !window->is_set ||
           (time_ns >= window->start_ns && time_ns < window->end_ns);
}

bool sum_on_device(const ridge_trace *trace, const ridge_trace_op *op, uint32_t device)
{
    size_t count;

    return device == RIDGE_TRACE_NONE ||
           ridge_trace_streams(trace, &count)[op->stream].device == device;
}

static int64_t time_at(const void *rows, size_t size, size_t index)
{
    int64_t time_ns;

    memcpy(&time_ns, (const char *)rows + index * size, sizeof(time_ns));
    return time_ns;
}

size_t sum_count_until(const void *rows, size_t size, size_t count, size_t near, int64_t time_ns)
{
    /* Those in front of low are up to the time, those from high on are later. */
    size_t low = near < count ? near : count, high = low;

    for (size_t step = 1; low > 0 && time_at(rows, size, low - 1) > time_ns; step *= 2) {
        high = low - 1;
        low = low > step ? low - step : 0;
    }
    for (size_t step = 1; high < count && time_at(rows, size, high) <= time_ns; step *= 2) {
        low = high + 1;
        high = count - high > step ? high + step : count;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (time_at(rows, size, middle) <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void sum_sort(sum_sample *samples, sum_sample *spare, size_t count)
{
    sum_sample *from = samples, *to = spare;
    uint64_t differs = 0;

    for (size_t i = 1; i < count; i++)
        differs |= (uint64_t)(samples[i].ns ^ samples[0].ns);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t places[257] = {0};
        sum_sample *const other = from;

        if ((differs >> shift & 0xff) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            places[((uint64_t)from[i].ns >> shift & 0xff) + 1]++;
        for (size_t i = 1; i < 257; i++)
            places[i] += places[i - 1];
        for (size_t i = 0; i < count; i++)
            to[places[(uint64_t)from[i].ns >> shift & 0xff]++] = from[i];
        from = to;
        to = other;
    }
    if (from != samples)
        memcpy(samples, from, count * sizeof(*samples));
}
