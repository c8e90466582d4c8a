/* SPDX-License-Identifier: Apache-2.0
 *
 * A merge sort that takes what is in order already as it is: profilers write each thread or stream
 * nearly in order, so that a file is some tens of runs. Two runs are merged in pieces as long as
 * one of them comes first, found by doubling steps. Equal rows keep their order. */
#include "timeline/trace_build.h"

#include <string.h>

typedef struct sort_rows {
    size_t size; /* of a row */
    trace_order *order;
    const void *context;
} sort_rows;

static const char *row_at(const sort_rows *sorter, const char *rows, size_t index)
{
    return rows + index * sorter->size;
}

static bool is_before(const sort_rows *sorter, const char *a, const char *b)
{
    return sorter->order(a, b, sorter->context) < 0;
}

/* Where the run that begins at first ends. */
static size_t end_of_run(const sort_rows *sorter, const char *rows, size_t first, size_t count)
{
    size_t end = first + 1;

    while (end < count &&
           !is_before(sorter, row_at(sorter, rows, end), row_at(sorter, rows, end - 1)))
        end++;
    return end;
}

/* How many of the rows come before the other one; equal ones too when they stood before it. */
static size_t count_before(const sort_rows *sorter, const char *rows, size_t count,
                           const char *other, bool equal_too)
{
    size_t low = 0, high = count; /* rows below low come before, those from high on do not */
    bool is_doubling = true;

    for (size_t step = 1; low < high; step += step) {
        const size_t probe =
            is_doubling && step < high - low ? low + step - 1 : low + (high - low) / 2;
        const char *const row = row_at(sorter, rows, probe);

        if (equal_too ? !is_before(sorter, other, row) : is_before(sorter, row, other)) {
            low = probe + 1;
        } else {
            high = probe;
            is_doubling = false;
        }
    }
    return low;
}

/* a stood before b. */
static void merge(const sort_rows *sorter, const char *a, size_t a_count, const char *b,
                  size_t b_count, char *out)
{
    while (a_count > 0 && b_count > 0) {
        const size_t from_a = count_before(sorter, a, a_count, b, true);
        size_t from_b;

        memcpy(out, a, from_a * sorter->size);
        out += from_a * sorter->size;
        a += from_a * sorter->size;
        a_count -= from_a;
        if (a_count == 0)
            break;
        from_b = count_before(sorter, b, b_count, a, false);
        memcpy(out, b, from_b * sorter->size);
        out += from_b * sorter->size;
        b += from_b * sorter->size;
        b_count -= from_b;
    }
    memcpy(out, a, a_count * sorter->size);
    memcpy(out + a_count * sorter->size, b, b_count * sorter->size);
}

/* Pairs of neighbouring runs from one array into the other. True: one run is left. */
static bool merge_pairs(const sort_rows *sorter, const char *from, char *to, size_t count)
{
    size_t first = 0, pairs = 0;

    while (first < count) {
        const size_t middle = end_of_run(sorter, from, first, count);
        const size_t end = middle < count ? end_of_run(sorter, from, middle, count) : count;

        merge(sorter, row_at(sorter, from, first), middle - first, row_at(sorter, from, middle),
              end - middle, to + first * sorter->size);
        first = end;
        pairs++;
    }
    return pairs <= 1;
}

bool trace_sort(void *rows, size_t count, size_t size, trace_order *order, const void *context)
{
    const sort_rows sorter = {size, order, context};
    char *from = rows, *to, *spare;
    bool done = false;

    if (count < 2 || end_of_run(&sorter, rows, 0, count) == count)
        return true;
    spare = ridge_realloc_array(NULL, count, size);
    if (spare == NULL)
        return false;
    for (to = spare; !done;) {
        char *const merged = to;

        done = merge_pairs(&sorter, from, to, count);
        to = from;
        from = merged;
    }
    if (from == spare)
        memcpy(rows, spare, count * size);
    ridge_free(spare);
    return true;
}
