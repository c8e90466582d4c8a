/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of memory, state and order: two launches that must agree in every bit, whatever lay in the
 * outputs, the workspaces and around the buffers, on whatever stream. They need no reference. */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/check_run.h"

/* Launches; whether that gives these bits. */
static ridge_status gives(checker *self, check_set *set, const check_plan *plan,
                          const check_capture *first, bool *same, char *text, size_t size,
                          ridge_error *err)
{
    const ridge_status status = check_launch(self, set, plan, NULL, err);

    *same = false;
    return status == RIDGE_OK ? check_capture_holds(set, first, same, text, size, err) : status;
}

/* Two launches that differ; *is_sure: each gives its own bits again. Skipped with the reason when
 * not: what does not is the repeat test's to say, a difference from another plan means nothing then.
 * Called with the second one's outputs still in place. */
static ridge_status confirm(checker *self, const check_capture *first, check_set *set,
                            const check_plan *plan, bool *is_sure, ridge_test_result *out,
                            ridge_error *err)
{
    const check_plan case_plan = check_case_plan(self);
    check_capture second = {.bits = {NULL}};
    char text[140];
    ridge_status status = check_capture_take(set, &second, err);

    *is_sure = false;
    if (status == RIDGE_OK)
        status = gives(self, &self->set, &case_plan, first, is_sure, text, sizeof(text), err);
    if (status == RIDGE_OK && *is_sure)
        status = gives(self, set, plan, &second, is_sure, text, sizeof(text), err);
    if (status == RIDGE_OK && !*is_sure)
        check_outcome(out, RIDGE_OUTCOME_SKIPPED,
                      "launches of the same inputs differ: see the repeat test");
    check_capture_release(&second);
    return status;
}

/* A launch by a plan, on a set, beside one of the case's own; the outcome fails with why and the
 * first difference. */
static ridge_status same_bits(checker *self, check_set *set, const check_plan *plan,
                              const char *why, ridge_test_result *out, ridge_error *err)
{
    char text[140];
    bool is_sure = false, same = true;
    ridge_status status = check_base(self, err);

    if (status == RIDGE_OK)
        status = gives(self, set, plan, &self->base, &same, text, sizeof(text), err);
    if (status == RIDGE_OK && !same)
        status = confirm(self, &self->base, set, plan, &is_sure, out, err);
    if (status == RIDGE_OK && is_sure)
        check_outcome(out, RIDGE_OUTCOME_FAIL, "%s: %s", why, text);
    return status;
}

/* -- what was there before --------------------------------------------------------------------- */

static void find_unwritten(const checker *self, const check_capture *a, const check_capture *b,
                           ridge_test_result *out)
{
    for (size_t i = 0; i < self->set.count; i++) {
        const check_buffer *const of = &self->set.buffers[i];
        int64_t count = 0, first = -1, last = -1;

        if (of->desc.role != RIDGE_ROLE_OUT || of->owner != i)
            continue;
        for (int64_t k = 0; k < of->element_count; k++)
            if (check_is_poison(of->desc.dtype, a->bits[i], k, 0) &&
                check_is_poison(of->desc.dtype, b->bits[i], k, 1)) {
                first = count++ == 0 ? k : first;
                last = k;
            }
        if (count > 0) {
            check_outcome(out, RIDGE_OUTCOME_FAIL,
                          "%" PRId64 " of %" PRId64 " elements of %s are not written, %" PRId64
                          " the first and %" PRId64 " the last%s",
                          count, of->element_count, of->desc.name, first, last,
                          of->row_dim == 0 ? " of the rows read" : "");
            return;
        }
    }
}

static ridge_status check_written(checker *self, ridge_test_result *out, ridge_error *err)
{
    check_capture second = {.bits = {NULL}};
    check_plan large = check_case_plan(self);
    char text[140];
    bool is_sure = false, same = true;
    ridge_status status = check_base(self, err);

    large.poison = 1;
    if (status == RIDGE_OK)
        status = gives(self, &self->set, &large, &self->base, &same, text, sizeof(text), err);
    if (status == RIDGE_OK && !same)
        status = check_capture_take(&self->set, &second, err);
    if (status == RIDGE_OK && !same)
        status = confirm(self, &self->base, &self->set, &large, &is_sure, out, err);
    if (status == RIDGE_OK && is_sure) {
        find_unwritten(self, &self->base, &second, out);
        if (out->outcome == RIDGE_OUTCOME_PASS)
            check_outcome(out, RIDGE_OUTCOME_FAIL,
                          "depends on what outputs held before the launch: %s", text);
    }
    check_capture_release(&second);
    return status;
}

static ridge_status check_workspace(checker *self, ridge_test_result *out, ridge_error *err)
{
    check_plan ones = check_case_plan(self);
    bool has_one = false;

    ones.workspace_ones = true;
    for (size_t i = 0; i < self->set.count; i++)
        has_one = has_one || self->set.buffers[i].desc.role == RIDGE_ROLE_WORKSPACE;
    if (!has_one) {
        check_outcome(out, RIDGE_OUTCOME_SKIPPED, "does not apply: no workspace");
        return RIDGE_OK;
    }
    return same_bits(self, &self->set, &ones, "depends on what the workspace held", out, err);
}

static ridge_status check_bands_read(checker *self, ridge_test_result *out, ridge_error *err)
{
    static const check_bands bands[] = {CHECK_BANDS_NAN, CHECK_BANDS_ZERO};
    ridge_status status = RIDGE_OK;

    for (size_t i = 0; i < 2 && status == RIDGE_OK && out->outcome == RIDGE_OUTCOME_PASS; i++) {
        check_plan plan = check_case_plan(self);

        plan.bands = bands[i];
        status = same_bits(self, &self->set, &plan, "reads beside its inputs", out, err);
    }
    return status;
}

/* -- other places ------------------------------------------------------------------------------ */

/* The same case in memory of its own, placed otherwise. */
static ridge_status elsewhere(checker *self, check_place place, ridge_test_result *out,
                              ridge_error *err)
{
    const check_plan plan = check_case_plan(self);
    check_set second = self->set;
    ridge_status status;

    second.is_prepared = second.is_held = second.was_filled = false;
    second.state = NULL;
    for (size_t i = 0; i < second.count; i++) {
        second.buffers[i].base = NULL;
        second.buffers[i].mapping = NULL;
        second.buffers[i].pristine = NULL;
        second.buffers[i].lead_bytes = 0;
    }
    status = check_set_allocate(&second, place, self->alias_from_bytes, err);
    if (status == RIDGE_OK)
        status = check_set_prepare(&second, err);
    if (status == RIDGE_OK)
        status = self->alias_from_bytes > 0
                     ? check_launch(self, &second, &plan, NULL, err)
                     : same_bits(self, &second, &plan, "buffers at other addresses", out, err);
    check_set_release(&second);
    return status;
}

static ridge_status check_guards(checker *self, ridge_test_result *out, ridge_error *err)
{
    uint64_t limit = self->options->memory_bytes;
    size_t free_bytes;
    ridge_status status = ridge_device_free_bytes(self->device, &free_bytes, err);

    if (status != RIDGE_OK)
        return status;
    if (limit == 0)
        limit = (uint64_t)free_bytes / 4 * 3;
    else
        limit = limit > check_set_bytes(&self->set, self->alias_from_bytes)
                    ? limit - check_set_bytes(&self->set, self->alias_from_bytes)
                    : 0;
    if (check_set_bytes(&self->set, self->alias_from_bytes) > limit) {
        const check_plan plan = check_case_plan(self);

        return check_launch(self, &self->set, &plan, NULL, err); /* left alone */
    }
    return elsewhere(self, CHECK_RIGHT, out, err);
}

/* A fault ends the process: only for a caller that can bear it, who asks by name. */
static ridge_status check_fence(checker *self, ridge_test_result *out, ridge_error *err)
{
    if (((self->options->tests >> RIDGE_TEST_FENCE) & 1) == 0)
        check_outcome(out, RIDGE_OUTCOME_SKIPPED,
                      "only when asked for by name: a fault ends the process");
    else if (!ridge_device_get_info(self->device)->has_virtual_memory)
        check_outcome(out, RIDGE_OUTCOME_SKIPPED, "the device has no virtual memory calls");
    else
        return elsewhere(self, CHECK_FENCE, out, err);
    return RIDGE_OK;
}

/* Looked at after each launch; here is one, in case no other test makes any. */
static ridge_status check_inputs(checker *self, ridge_test_result *out, ridge_error *err)
{
    const check_plan plan = check_case_plan(self);

    (void)out;
    return check_launch(self, &self->set, &plan, NULL, err);
}

/* -- again, and in other order ----------------------------------------------------------------- */

static bool is_gpu(const checker *self)
{
    return ridge_device_get_info(self->device)->kind == RIDGE_DEVICE_CUDA;
}

/* A CPU runs one element after another, where order is not what repeats vary: fewer of large ones. */
static int repeats_of(const checker *self)
{
    int64_t most = 0;

    if (self->options->repeats > 0)
        return self->options->repeats;
    for (size_t i = 0; i < self->set.count; i++)
        if (self->set.buffers[i].is_output &&
            ridge_buffer_elements(&self->set.buffers[i].desc) > most)
            most = ridge_buffer_elements(&self->set.buffers[i].desc);
    return is_gpu(self) || most < INT64_C(1) << 17 ? 20 : 4;
}

/* Every other launch finds shared memory overwritten: behind a launch of the same inputs a block that
 * reads too early finds what it would have read in time, and all launches agree on it. */
static ridge_status check_repeat(checker *self, ridge_test_result *out, ridge_error *err)
{
    const int repeats = repeats_of(self);
    check_plan plan = check_case_plan(self);
    check_capture first = {.bits = {NULL}};
    ridge_status status = check_launch(self, &self->set, &plan, NULL, err);

    if (status == RIDGE_OK)
        status = check_capture_take(&self->set, &first, err);
    for (int i = 1; i < repeats && status == RIDGE_OK && out->outcome == RIDGE_OUTCOME_PASS &&
                    !check_should_stop(self);
         i++) {
        char text[140];
        bool same;

        plan.is_unwatched = i < repeats - 1;
        if (i % 2 == 1)
            status = ridge_device_scrub_shared(self->device, self->stream, err);
        if (status == RIDGE_OK)
            status = gives(self, &self->set, &plan, &first, &same, text, sizeof(text), err);
        if (status == RIDGE_OK && !same)
            check_outcome(out, RIDGE_OUTCOME_FAIL, "launch %d of the same inputs: %s", i + 1, text);
    }
    if (status == RIDGE_OK && plan.is_unwatched) /* it ended among those */
        status = check_look(self, &self->set, &plan, err);
    check_capture_release(&first);
    return status;
}

/* With the default stream held by a gate: what leaks to it is not done when the own stream is. */
static ridge_status check_stream(checker *self, ridge_test_result *out, ridge_error *err)
{
    const check_plan plan = check_case_plan(self);
    uint64_t hashes[RIDGE_KERNEL_BUFFERS] = {0};
    char text[140];
    bool same;
    ridge_status status;

    if (!is_gpu(self)) {
        check_outcome(out, RIDGE_OUTCOME_SKIPPED, "the CPU device has one order only");
        return RIDGE_OK;
    }
    status = check_base(self, err);
    if (status == RIDGE_OK)
        status = check_set_fill(&self->set, &plan, err);
    if (status == RIDGE_OK)
        status = ridge_device_gate_close(self->device, NULL, err);
    if (status == RIDGE_OK) {
        status = check_call(&self->set, self->stream, err);
        if (status == RIDGE_OK)
            status = ridge_stream_synchronize(self->stream, err);
        /* Hashes are taken on the own stream, while the gate is closed. */
        for (size_t i = 0; i < self->set.count && status == RIDGE_OK; i++)
            if (self->set.buffers[i].is_output)
                status = check_set_hash(&self->set, i, &hashes[i], err);
        ridge_device_gate_open(self->device);
    }
    if (status == RIDGE_OK)
        status = ridge_device_synchronize(self->device, err);
    for (size_t i = 0; i < self->set.count && status == RIDGE_OK; i++) {
        uint64_t late = 0;

        if (!self->set.buffers[i].is_output)
            continue;
        status = check_set_hash(&self->set, i, &late, err);
        if (status == RIDGE_OK && late != hashes[i])
            check_outcome(out, RIDGE_OUTCOME_FAIL,
                          "%s changes after the stream is done: work on another stream",
                          self->set.buffers[i].desc.name);
    }
    if (status != RIDGE_OK || out->outcome != RIDGE_OUTCOME_PASS)
        return status;
    status = check_capture_holds(&self->set, &self->base, &same, text, sizeof(text), err);
    if (status == RIDGE_OK && !same)
        check_outcome(out, RIDGE_OUTCOME_FAIL, "with the default stream busy: %s", text);
    return status;
}

static ridge_status check_capture_test(checker *self, ridge_test_result *out, ridge_error *err)
{
    const check_plan plan = check_case_plan(self);
    bool same, has_output = false;
    ridge_graph *graph = NULL;
    ridge_error why = {.status = RIDGE_OK};
    char text[140];
    ridge_status status, ended;

    if (!ridge_device_get_info(self->device)->has_graphs) {
        check_outcome(out, RIDGE_OUTCOME_SKIPPED, "the device has no graphs");
        return RIDGE_OK;
    }
    status = check_base(self, err);
    if (status == RIDGE_OK)
        status = check_set_fill(&self->set, &plan, err);
    if (status == RIDGE_OK)
        status = ridge_capture_begin(self->stream, true, err);
    if (status != RIDGE_OK)
        goto out;
    status = check_call(&self->set, self->stream, &why);
    ended = ridge_capture_end(self->stream, &graph, status == RIDGE_OK ? &why : NULL);
    if (status != RIDGE_OK || ended != RIDGE_OK) {
        check_outcome(out, RIDGE_OUTCOME_FAIL, "%s", why.text);
        status = RIDGE_OK;
        goto out;
    }
    for (size_t i = 0; i < self->set.count; i++)
        has_output = has_output || (self->set.buffers[i].is_output &&
                                    ridge_buffer_elements(&self->set.buffers[i].desc) > 0);
    /* Nothing to write: nothing to launch. Nothing written without a graph either: the written test
     * says so. */
    if (ridge_graph_node_count(graph) == 0) {
        status = check_capture_holds(&self->set, &self->base, &same, text, sizeof(text), err);
        if (status == RIDGE_OK && has_output && !same)
            check_outcome(out, RIDGE_OUTCOME_FAIL, "nothing was captured: work on another stream");
        goto out;
    }
    status = ridge_graph_launch(graph, self->stream, err);
    if (status == RIDGE_OK)
        status = ridge_stream_synchronize(self->stream, err);
    if (status == RIDGE_OK)
        status = check_capture_holds(&self->set, &self->base, &same, text, sizeof(text), err);
    if (status == RIDGE_OK && !same)
        check_outcome(out, RIDGE_OUTCOME_FAIL, "out of a graph: %s", text);
out:
    ridge_graph_free(graph);
    return status;
}

/* The CUDA runtime keeps a last error, the driver does not: asked only where a runtime is loaded. */
static ridge_status check_error_state(checker *self, ridge_test_result *out, ridge_error *err)
{
    int (*peek)(void) = NULL, (*take)(void) = NULL, (*set_device)(int) = NULL;
    void *const program = dlopen(NULL, RTLD_LAZY);
    const check_plan plan = check_case_plan(self);
    ridge_error why = {.status = RIDGE_OK};
    ridge_status status = RIDGE_OK;
    int pending;

    if (program != NULL && is_gpu(self)) {
        /* POSIX has dlsym() return functions as objects; copied as such. */
        void *const found[] = {dlsym(program, "cudaPeekAtLastError"),
                               dlsym(program, "cudaGetLastError"), dlsym(program, "cudaSetDevice")};

        memcpy(&peek, &found[0], sizeof(peek));
        memcpy(&take, &found[1], sizeof(take));
        memcpy(&set_device, &found[2], sizeof(set_device));
    }
    if (peek == NULL || take == NULL || set_device == NULL) {
        check_outcome(out, RIDGE_OUTCOME_SKIPPED,
                      "no CUDA runtime is loaded that has a last error");
        goto out;
    }
    status = check_set_fill(&self->set, &plan, err);
    if (status != RIDGE_OK)
        goto out;
    set_device(1 << 20); /* an error of no consequence */
    pending = peek();
    if (check_call(&self->set, self->stream, &why) != RIDGE_OK)
        check_outcome(out, RIDGE_OUTCOME_FAIL, "reports an error that was there before: %s",
                      why.text);
    else if (pending != 0 && peek() != pending)
        check_outcome(out, RIDGE_OUTCOME_FAIL, "an error that was there before is gone after");
    take();
    status = ridge_stream_synchronize(self->stream, err);
out:
    if (program != NULL)
        dlclose(program);
    return status;
}

check_test_function check_test_of(ridge_test test)
{
    static const check_test_function functions[RIDGE_TEST_COUNT] = {
        [RIDGE_TEST_VALUES] = check_values,        [RIDGE_TEST_INTEGERS] = check_integers,
        [RIDGE_TEST_POSITION] = check_position,    [RIDGE_TEST_ONE_HOT] = check_one_hot,
        [RIDGE_TEST_PRECISION] = check_precision,  [RIDGE_TEST_SCALING] = check_scaling,
        [RIDGE_TEST_WRITTEN] = check_written,      [RIDGE_TEST_WORKSPACE] = check_workspace,
        [RIDGE_TEST_GUARDS] = check_guards,        [RIDGE_TEST_BANDS_READ] = check_bands_read,
        [RIDGE_TEST_INPUTS] = check_inputs,        [RIDGE_TEST_REPEAT] = check_repeat,
        [RIDGE_TEST_DIFFERENT] = check_different,  [RIDGE_TEST_STREAM] = check_stream,
        [RIDGE_TEST_CAPTURE] = check_capture_test, [RIDGE_TEST_ERROR_STATE] = check_error_state,
        [RIDGE_TEST_FENCE] = check_fence,          [RIDGE_TEST_NEIGHBOUR] = check_neighbour,
    };

    return functions[test];
}
