/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a computation beside another: it runs once, and what it returns arrives. */
#include "cases.h"

#include <unistd.h>

#include "timeline/beside.h"

typedef struct task_state {
    bool result;
    int run_count;
    pthread_t ran_in;
} task_state;

static bool task(void *context)
{
    task_state *const state = context;

    state->run_count++;
    state->ran_in = pthread_self();
    return state->result;
}

static struct beside_case {
    const char *name;
    size_t rows;
    bool result, in_thread;
} beside_cases[] = {
    {"few rows", 10, true, false},
    {"few rows, failure", 10, false, false},
    {"many rows", 1000000, true, true},
    {"many rows, failure", 1000000, false, true},
};

static void runs_once(void **state)
{
    const struct beside_case *const row = *state;
    task_state of = {.result = row->result};
    beside it;

    beside_begin(&it, task, &of, row->rows);
    assert_int_equal(beside_end(&it), row->result);
    assert_int_equal(of.run_count, 1);
    if (!row->in_thread || sysconf(_SC_NPROCESSORS_ONLN) < 2)
        assert_true(pthread_equal(of.ran_in, pthread_self()));
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, runs_once, beside_cases);
    return cases_run(&list, "beside");
}
