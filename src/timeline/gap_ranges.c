/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in the program a gap is: the innermost range around the launch that ended it. Launches of a
 * thread are asked for in order of time and its ranges swept once, with a stack of those that last. */
#include "timeline/account.h"

#include <stdlib.h>

typedef struct question {
    uint32_t thread, gap;
    int64_t at_ns;
} question;

static int order_question(const void *left, const void *right)
{
    const question *const a = left, *const b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->gap > b->gap) - (a->gap < b->gap);
}

/* The questions of one thread, by time. On the stack lie ranges by start; what ended above the
 * answer never comes back. stack: room for each range of the thread. */
static void answer(const account_view *view, const question *questions, size_t count,
                   ridge_idle_gap *gaps, uint32_t *stack)
{
    const ridge_trace_thread *const thread = &view->threads[questions[0].thread];
    const size_t end = thread->first_range + thread->range_count;
    size_t next = thread->first_range, depth = 0;

    for (size_t i = 0; i < count; i++) {
        for (; next < end && view->ranges[next].start_ns <= questions[i].at_ns; next++) {
            while (depth > 0 &&
                   view->ranges[stack[depth - 1]].end_ns <= view->ranges[next].start_ns)
                depth--;
            stack[depth++] = (uint32_t)next;
        }
        while (depth > 0 && view->ranges[stack[depth - 1]].end_ns <= questions[i].at_ns)
            depth--;
        if (depth > 0)
            gaps[questions[i].gap].range = stack[depth - 1];
    }
}

bool account_find_ranges(account_device *device)
{
    const account_view *const view = device->view;
    ridge_idle_gap *const gaps = device->gaps.rows;
    question *const questions = ridge_calloc(device->gaps.count + 1, sizeof(*questions));
    uint32_t *stack = NULL;
    size_t count = 0, most = 0;

    for (size_t i = 0; questions != NULL && i < device->gaps.count; i++) {
        const uint32_t after = gaps[i].after;
        const uint32_t api = after != RIDGE_TRACE_NONE ? view->ops[after].api : RIDGE_TRACE_NONE;

        if (api == RIDGE_TRACE_NONE)
            continue;
        questions[count] =
            (question){view->apis[api].thread, (uint32_t)i, view->apis[api].start_ns};
        if (view->threads[questions[count].thread].range_count > most)
            most = view->threads[questions[count].thread].range_count;
        count++;
    }
    if (questions != NULL)
        stack = ridge_calloc(most + 1, sizeof(*stack));
    if (stack != NULL && count > 1)
        qsort(questions, count, sizeof(*questions), order_question);
    for (size_t first = 0, end; stack != NULL && first < count; first = end) {
        for (end = first; end < count && questions[end].thread == questions[first].thread;)
            end++;
        answer(view, questions + first, end - first, gaps, stack);
    }
    ridge_free(stack);
    ridge_free(questions);
    return stack != NULL;
}
