/* SPDX-License-Identifier: Apache-2.0
 *
 * A merge sort that takes what is in order already as it is: profilers write each thread or stream
 * nearly in order, so that a file is some tens of runs. Two runs are merged in pieces as long as
 * one of them comes first, found by doubling steps. Before that, rows that stand a few places from
 * their own, as those of work on several streams do, are moved there one by one: a file of them
 * would be a run a row. Equal rows keep their order. */
#define _DEFAULT_SOURCE 1 /* madvise */
#include "timeline/trace_build.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Pairs of neighbouring runs from one array into the other. */
static void merge_pairs(const sort_rows *sorter, const char *from, char *to, size_t count)
{
    size_t first = 0;

    while (first < count) {
        const size_t middle = end_of_run(sorter, from, first, count);
        const size_t end = middle < count ? end_of_run(sorter, from, middle, count) : count;

        merge(sorter, row_at(sorter, from, first), middle - first, row_at(sorter, from, middle),
              end - middle, to + first * sorter->size);
        first = end;
    }
}

enum { NEAR_ROWS = 16, NEAR_BYTES = 128 };

/* Moves each row back by up to NEAR_ROWS places to its own; one that belongs further back begins a
 * run. Returns whether all are in order. */
static bool settle(const sort_rows *sorter, char *rows, size_t count)
{
    const size_t size = sorter->size;
    size_t run = 0; /* where it began */
    char held[NEAR_BYTES];

    if (size > sizeof(held))
        return end_of_run(sorter, rows, 0, count) == count;
    for (size_t i = 1; i < count; i++) {
        char *const row = rows + i * size;
        size_t back = 0;

        if (!is_before(sorter, row, row - size))
            continue;
        while (back < NEAR_ROWS && back < i - run &&
               is_before(sorter, row, row - (back + 1) * size))
            back++;
        if (back == NEAR_ROWS && i - run > NEAR_ROWS &&
            is_before(sorter, row, row - (back + 1) * size)) {
            run = i;
            continue;
        }
        memcpy(held, row, size);
        memmove(row - (back - 1) * size, row - back * size, back * size);
        memcpy(row - back * size, held, size);
    }
    return run == 0;
}

/* Returns which of the two arrays holds the rows in order at last. */
static char *merge_all(const sort_rows *sorter, char *from, char *to, size_t count)
{
    do {
        char *const merged = to;

        merge_pairs(sorter, from, to, count);
        to = from;
        from = merged;
    } while (end_of_run(sorter, from, 0, count) < count);
    return from;
}

bool trace_sort_array(trace_array *array, size_t size, trace_order *order, const void *context)
{
    const sort_rows sorter = {size, order, context};
    char *const rows = array->rows, *sorted, *spare;

    if (array->count < 2 || settle(&sorter, rows, array->count))
        return true;
    spare = ridge_realloc_array(NULL, array->count, size);
    if (spare == NULL)
        return false;
    sorted = merge_all(&sorter, rows, spare, array->count);
    array->rows = sorted;
    array->capacity = sorted == spare ? array->count : array->capacity;
    ridge_free(sorted == spare ? rows : spare);
    return true;
}

bool trace_sort(void *rows, size_t count, size_t size, trace_order *order, const void *context)
{
    const sort_rows sorter = {size, order, context};
    char *spare;

    if (count < 2 || settle(&sorter, rows, count))
        return true;
    spare = ridge_realloc_array(NULL, count, size);
    if (spare == NULL)
        return false;
    if (merge_all(&sorter, rows, spare, count) == spare)
        memcpy(rows, spare, count * size);
    ridge_free(spare);
    return true;
}

enum { LEAVE_BYTES = 1 << 20 };

/* Gives back the memory of what nobody reads again, up to a row, ahead of ridge_free(): a copy of a
 * large array then takes no more than the array. Returns up to where it is gone. */
static size_t leave(char *rows, size_t gone, size_t until)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = ((uintptr_t)rows + gone + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)rows + until) / page * page;

    if (end <= first)
        return gone;
    madvise(rows + (first - (uintptr_t)rows), end - first, MADV_DONTNEED);
    return end - (uintptr_t)rows;
}

bool trace_group_array(trace_array *array, size_t size, size_t offset, size_t groups)
{
    char *const rows = array->rows;
    size_t gone = 0;
    size_t *places;
    uint32_t last = 0;
    bool in_order = true;
    char *grouped;

    for (size_t i = 0; i < array->count && in_order; i++) {
        uint32_t group;

        memcpy(&group, rows + i * size + offset, sizeof(group));
        in_order = group >= last;
        last = group;
    }
    if (in_order)
        return true;
    places = ridge_calloc(groups + 1, sizeof(*places));
    grouped = ridge_realloc_array(NULL, array->count, size);
    if (places == NULL || grouped == NULL) {
        ridge_free(places);
        ridge_free(grouped);
        return false;
    }
    for (size_t i = 0; i < array->count; i++) {
        uint32_t group;

        memcpy(&group, rows + i * size + offset, sizeof(group));
        places[group + 1]++;
    }
    for (size_t i = 1; i <= groups; i++)
        places[i] += places[i - 1];
    for (size_t i = 0; i < array->count; i++) {
        uint32_t group;

        memcpy(&group, rows + i * size + offset, sizeof(group));
        memcpy(grouped + places[group]++ * size, rows + i * size, size);
        if ((i + 1) * size - gone >= LEAVE_BYTES)
            gone = leave(rows, gone, (i + 1) * size);
    }
    ridge_free(places);
    ridge_free(array->rows);
    array->rows = grouped;
    array->capacity = array->count;
    return true;
}
