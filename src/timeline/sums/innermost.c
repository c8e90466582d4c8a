/* SPDX-License-Identifier: Apache-2.0
 *
 * The innermost range of each call: the last to start of those on its thread that hold it. Ranges
 * are sorted by start, so it is the last place in front of the call whose end is not before the
 * call's, found in a tree of the largest ends: O((ranges + calls) log ranges), whether they nest or
 * cross. */
#include "timeline/sums/sums_internal.h"

#include <string.h>

#include "base/memory.h"

typedef struct end_tree {
    const ridge_trace_range *ranges;
    uint32_t *rows; /* of the ranges that count, on the thread at hand */
    size_t count;
    int64_t *ends; /* the leaves from ends[leaves] on, the root at 1 */
    size_t leaves; /* a power of two above count */
} end_tree;

static void fill_tree(end_tree *tree)
{
    tree->leaves = 1;
    while (tree->leaves < tree->count + 1)
        tree->leaves *= 2;
    for (size_t i = 0; i < tree->leaves; i++)
        tree->ends[tree->leaves + i] =
            i < tree->count ? tree->ranges[tree->rows[i]].end_ns : INT64_MIN;
    for (size_t i = tree->leaves; i-- > 1;) {
        const int64_t left = tree->ends[i * 2], right = tree->ends[i * 2 + 1];

        tree->ends[i] = left > right ? left : right;
    }
}

/* The last of the first `before` ranges that ends then or later; RIDGE_TRACE_NONE: there is none. */
static uint32_t last_that_holds(const end_tree *tree, size_t before, int64_t end_ns)
{
    size_t at = tree->leaves + before; /* what lies on its left is looked at, from the right */

    do {
        while (at > 1 && (at & 1) == 0)
            at >>= 1;
        if (at <= 1)
            return RIDGE_TRACE_NONE;
        at--;
    } while (tree->ends[at] < end_ns);
    while (at < tree->leaves)
        at = tree->ends[at * 2 + 1] >= end_ns ? at * 2 + 1 : at * 2;
    return at - tree->leaves < tree->count ? tree->rows[at - tree->leaves] : RIDGE_TRACE_NONE;
}

/* Functions of the interpreter itself: what called them tells more. */
static bool is_builtin(const ridge_trace *trace, const ridge_trace_range *range)
{
    return range->kind == RIDGE_RANGE_PYTHON &&
           strncmp(ridge_trace_name(trace, range->name, NULL), "<built-in", 9) == 0;
}

/* The ranges of a thread that count; rows may be NULL to count them alone. */
static size_t choose(const ridge_trace *trace, const ridge_trace_range *ranges,
                     const ridge_trace_thread *thread, unsigned kinds,
                     const ridge_trace_window *window, uint32_t *rows)
{
    size_t count = 0;

    for (size_t i = thread->first_range; i < thread->first_range + thread->range_count; i++) {
        if ((kinds >> ranges[i].kind & 1) == 0 ||
            (ranges[i].flags & RIDGE_RANGE_OTHER_THREAD) != 0 ||
            !sum_in_window(window, ranges[i].start_ns) || is_builtin(trace, &ranges[i]))
            continue;
        if (rows != NULL)
            rows[count] = (uint32_t)i;
        count++;
    }
    return count;
}

static void find_in_thread(end_tree *tree, const ridge_trace_thread *thread,
                           const ridge_trace_api *apis, uint32_t *out)
{
    size_t started = 0;

    fill_tree(tree);
    for (size_t i = thread->first_api; i < thread->first_api + thread->api_count; i++) {
        while (started < tree->count &&
               tree->ranges[tree->rows[started]].start_ns <= apis[i].start_ns)
            started++;
        if (apis[i].op_count > 0 && started > 0)
            out[i] = last_that_holds(tree, started, apis[i].end_ns);
    }
}

uint32_t *sum_innermost(const ridge_trace *trace, unsigned kinds, const ridge_trace_window *window)
{
    size_t api_count, range_count, thread_count, most = 0, leaves = 1;
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &api_count);
    const ridge_trace_thread *const threads = ridge_trace_threads(trace, &thread_count);
    end_tree tree = {.ranges = ridge_trace_ranges(trace, &range_count)};
    uint32_t *out = ridge_calloc(api_count + 1, sizeof(*out));

    for (size_t i = 0; i < thread_count; i++) {
        const size_t count = choose(trace, tree.ranges, &threads[i], kinds, window, NULL);

        most = count > most ? count : most;
    }
    while (leaves < most + 1)
        leaves *= 2;
    tree.rows = ridge_calloc(most + 1, sizeof(*tree.rows));
    tree.ends = ridge_calloc(leaves * 2, sizeof(*tree.ends));
    if (out == NULL || tree.rows == NULL || tree.ends == NULL) {
        ridge_free(out);
        out = NULL;
        goto out;
    }
    for (size_t i = 0; i < api_count; i++)
        out[i] = RIDGE_TRACE_NONE;
    for (size_t i = 0; i < thread_count; i++) {
        tree.count = choose(trace, tree.ranges, &threads[i], kinds, window, tree.rows);
        if (tree.count > 0)
            find_in_thread(&tree, &threads[i], apis, out);
    }
out:
    ridge_free(tree.rows);
    ridge_free(tree.ends);
    return out;
}
