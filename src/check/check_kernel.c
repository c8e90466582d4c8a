/* SPDX-License-Identifier: Apache-2.0
 *
 * One case of a kernel: describe, allocate, prepare, then the table of tests, each of which fills,
 * launches and looks. Bands and inputs are looked at after every launch, whatever test made it. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "check/check_run.h"

const check_plan check_plain_plan = {.values = -1, .first_values = -1, .seed = 0};

static const char *const test_names[RIDGE_TEST_COUNT] = {
#define TEST_NAME(name, text) text,
    RIDGE_TEST_LIST(TEST_NAME)
#undef TEST_NAME
};

const char *ridge_test_name(ridge_test test)
{
    return (unsigned)test < RIDGE_TEST_COUNT ? test_names[test] : "unknown";
}

bool check_looks(const checker *self, ridge_test test)
{
    return (self->enabled >> test) & 1;
}

bool check_should_stop(const checker *self)
{
    return self->options->should_stop != NULL && self->options->should_stop(self->options->context);
}

void check_outcome(ridge_test_result *out, ridge_outcome outcome, const char *format, ...)
{
    va_list arguments;

    out->outcome = outcome;
    va_start(arguments, format);
    vsnprintf(out->text, sizeof(out->text), format, arguments);
    va_end(arguments);
}

/* -- a launch ---------------------------------------------------------------------------------- */

ridge_status check_call(check_set *set, ridge_stream *stream, ridge_error *err)
{
    set->is_held = false;
    return set->kernel->launch(set->kernel, set->at, &set->view, set->state,
                               ridge_stream_native(stream), err);
}

static ridge_status hash_inputs(const check_set *set, uint64_t *hashes, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    for (size_t i = 0; i < set->count && status == RIDGE_OK; i++)
        if (check_set_is_constant(set, i))
            status = check_set_hash(set, i, &hashes[i], err);
    return status;
}

static ridge_status read_inputs(const check_set *set, check_answer *answer, ridge_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        const check_buffer *const of = &set->buffers[i];
        unsigned char *packed;
        ridge_status status;

        if (!of->is_input || of->element_count == 0)
            continue;
        packed = ridge_calloc((size_t)of->element_count, ridge_dtype_bytes(of->desc.dtype));
        if (packed == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for input %s",
                              of->desc.name);
        status = check_set_read(set, i, packed, err);
        if (status == RIDGE_OK)
            ridge_dtype_load_all(of->desc.dtype, packed, of->element_count, answer->in[i]);
        ridge_free(packed);
        if (status != RIDGE_OK)
            return status;
    }
    return RIDGE_OK;
}

ridge_status check_look(checker *self, check_set *set, const check_plan *plan, ridge_error *err)
{
    uint64_t after[RIDGE_KERNEL_BUFFERS] = {0};
    const bool are_inputs_seen = check_looks(self, RIDGE_TEST_INPUTS);
    const bool are_bands_seen =
        check_looks(self, RIDGE_TEST_GUARDS) && plan->bands == CHECK_BANDS_PATTERN;
    bool is_intact = true;
    ridge_status status = are_inputs_seen ? hash_inputs(set, after, err) : RIDGE_OK;

    if (status == RIDGE_OK && are_bands_seen)
        status =
            check_set_guards(set, plan->poison, self->guard_text, sizeof(self->guard_text), err);
    for (size_t i = 0; i < set->count && status == RIDGE_OK && are_inputs_seen; i++) {
        if (!check_set_is_constant(set, i) || set->input_hash[i] == after[i])
            continue;
        is_intact = false;
        if (self->input_text[0] == '\0')
            snprintf(self->input_text, sizeof(self->input_text),
                     "input %s is not what it was before the launch", set->buffers[i].desc.name);
    }
    set->is_held = status == RIDGE_OK && is_intact && are_inputs_seen && are_bands_seen &&
                   self->guard_text[0] == '\0';
    return status;
}

/* What launch() answers that is neither a refusal nor about the machine. An error of CUDA may be one of
 * the context: nothing can be launched after it, so the process ends. */
static bool is_fault_of_kernel(ridge_status status)
{
    return status == RIDGE_ERR_INVALID_ARGUMENT || status == RIDGE_ERR_OVERFLOW ||
           status == RIDGE_ERR_WORKSPACE || status == RIDGE_ERR_INTERNAL ||
           status == RIDGE_ERR_IO || status == RIDGE_ERR_FORMAT;
}

ridge_status check_launch(checker *self, check_set *set, const check_plan *plan,
                          check_answer *answer, ridge_error *err)
{
    const bool is_held = set->is_held && check_plan_holds(&set->held, plan);
    ridge_status status = check_set_fill(set, plan, err);

    if (status == RIDGE_OK && answer != NULL)
        status = read_inputs(set, answer, err);
    if (status == RIDGE_OK && !is_held && check_looks(self, RIDGE_TEST_INPUTS))
        status = hash_inputs(set, set->input_hash, err);
    if (status == RIDGE_OK) {
        status = check_call(set, set->stream, err);
        self->has_launch_failed = is_fault_of_kernel(status);
    }
    if (status == RIDGE_OK)
        status = ridge_stream_synchronize(set->stream, err);
    if (status != RIDGE_OK)
        return status;
    if (!plan->is_unwatched)
        return check_look(self, set, plan, err);
    set->is_held = is_held; /* looked at behind the last of them */
    return RIDGE_OK;
}

check_plan check_case_plan(const checker *self)
{
    check_plan plan = check_plain_plan;

    plan.seed = self->at.seed;
    return plan;
}

ridge_status check_base(checker *self, ridge_error *err)
{
    const check_plan plan = check_case_plan(self);
    ridge_status status;

    if (self->has_base)
        return RIDGE_OK;
    status = check_launch(self, &self->set, &plan, NULL, err);
    if (status == RIDGE_OK)
        status = check_capture_take(&self->set, &self->base, err);
    self->has_base = status == RIDGE_OK;
    return status;
}

/* -- reference --------------------------------------------------------------------------------- */

ridge_status check_doubles(double **out, int64_t count, double value, ridge_error *err)
{
    const size_t size = count > 0 ? (size_t)count : 1;

    *out = ridge_calloc(size, sizeof(**out));
    if (*out == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for a reference of %zu elements",
                          size);
    for (size_t i = 0; i < size && value != 0; i++)
        (*out)[i] = value;
    return RIDGE_OK;
}

ridge_status check_answer_create(const check_set *set, bool with_plain, check_answer *out,
                                 ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < set->count && status == RIDGE_OK; i++) {
        const check_buffer *const of = &set->buffers[i];

        if (of->is_input)
            status = check_doubles(&out->in[i], of->element_count, 0, err);
        if (status == RIDGE_OK && of->is_output) {
            status = check_doubles(&out->out[i], of->element_count, NAN, err);
            if (status == RIDGE_OK)
                status = check_doubles(&out->magnitude[i], of->element_count, NAN, err);
            if (status == RIDGE_OK && with_plain)
                status = check_doubles(&out->plain[i], of->element_count, NAN, err);
        }
    }
    if (status != RIDGE_OK)
        check_answer_release(out);
    return status;
}

void check_answer_release(check_answer *of)
{
    for (size_t i = 0; i < RIDGE_KERNEL_BUFFERS; i++) {
        ridge_free(of->in[i]);
        ridge_free(of->out[i]);
        ridge_free(of->magnitude[i]);
        ridge_free(of->plain[i]);
        ridge_free(of->condition[i]);
    }
    memset(of, 0, sizeof(*of));
}

ridge_status check_answer_compute(const checker *self, check_answer *of, bool with_plain,
                                  ridge_error *err)
{
    ridge_buffer_desc descs[RIDGE_KERNEL_BUFFERS];
    ridge_reference_view view = {.in = (const double *const *)of->in,
                                 .out = of->out,
                                 .magnitude = of->magnitude,
                                 .buffers = descs,
                                 .count = self->set.count};
    ridge_status status;

    for (size_t i = 0; i < self->set.count; i++)
        descs[i] = self->set.buffers[i].small;
    status = self->kernel->reference(self->kernel, &self->small_at, &view, err);
    if (status != RIDGE_OK || !with_plain || self->kernel->plain == NULL)
        return status;
    view.out = of->plain;
    view.magnitude = NULL;
    return self->kernel->plain(self->kernel, &self->small_at, &view, err);
}

/* -- the check --------------------------------------------------------------------------------- */

/* In place or contiguous alike: nothing was computed. */
static void refuse(checker *self, const ridge_error *why)
{
    self->out->outcome = self->options->must_take ? RIDGE_OUTCOME_FAIL : RIDGE_OUTCOME_REFUSED;
    self->out->test_count = 1;
    self->out->tests[0].test = RIDGE_TEST_VALUES;
    check_outcome(&self->out->tests[0], self->out->outcome, "%s%s",
                  self->options->must_take ? "refuses the plain case: " : "", why->text);
}

static void skip_all(checker *self, const char *why)
{
    self->out->outcome = RIDGE_OUTCOME_SKIPPED;
    self->out->test_count = 1;
    self->out->tests[0].test = RIDGE_TEST_VALUES;
    check_outcome(&self->out->tests[0], RIDGE_OUTCOME_SKIPPED, "%s", why);
}

/* *fits: false with all tests skipped, aloud. Read-only inputs become repeated granules only when
 * the case does not fit without. */
static ridge_status fit_memory(checker *self, bool *fits, ridge_error *err)
{
    const uint64_t granule = UINT64_C(64) << 20;
    uint64_t limit = self->options->memory_bytes;
    size_t free_bytes;
    char text[200];
    ridge_status status = ridge_device_free_bytes(self->device, &free_bytes, err);

    if (status != RIDGE_OK)
        return status;
    if (limit == 0)
        limit = (uint64_t)free_bytes / 4 * 3;
    *fits = check_set_bytes(&self->set, 0) <= limit;
    if (*fits)
        return RIDGE_OK;
    *fits = ridge_device_get_info(self->device)->has_virtual_memory &&
            check_set_bytes(&self->set, granule) <= limit;
    if (*fits) {
        self->alias_from_bytes = granule;
        return RIDGE_OK;
    }
    snprintf(text, sizeof(text), "needs %.3g GiB of device memory, %.3g GiB may be taken",
             (double)check_set_bytes(&self->set, 0) / 0x1p30, (double)limit / 0x1p30);
    skip_all(self, text);
    return RIDGE_OK;
}

static int severity(ridge_outcome outcome)
{
    switch (outcome) {
    case RIDGE_OUTCOME_FAIL:
        return 3;
    case RIDGE_OUTCOME_SUSPICIOUS:
        return 2;
    case RIDGE_OUTCOME_PASS:
        return 1;
    case RIDGE_OUTCOME_REFUSED:
    case RIDGE_OUTCOME_SKIPPED:
        break;
    }
    return 0;
}

/* What the launches of the other tests brought to light. */
static void conclude(checker *self, ridge_test_result *of)
{
    if (of->test == RIDGE_TEST_GUARDS && self->guard_text[0] != '\0')
        check_outcome(of, RIDGE_OUTCOME_FAIL, "%s", self->guard_text);
    if (of->test == RIDGE_TEST_INPUTS && self->input_text[0] != '\0')
        check_outcome(of, RIDGE_OUTCOME_FAIL, "%s", self->input_text);
    if (severity(of->outcome) > severity(self->out->outcome))
        self->out->outcome = of->outcome;
}

/* Tests that launch the case as the first launch was: no reason to refuse. */
static bool is_the_same(ridge_test test)
{
    return test == RIDGE_TEST_WRITTEN || test == RIDGE_TEST_WORKSPACE ||
           test == RIDGE_TEST_BANDS_READ || test == RIDGE_TEST_INPUTS || test == RIDGE_TEST_REPEAT;
}

/* What differs from launch to launch is a race wherever it is; the place stays in the text. One that
 * no repeated launch shows is not the first guess. */
static void weigh_race(ridge_check_result *out)
{
    ridge_mismatch *const wrong = &out->mismatch;
    char place[sizeof(wrong->cause)];
    size_t i;

    for (i = 0; i < out->test_count && out->tests[i].test != RIDGE_TEST_REPEAT; i++)
        ;
    if (i == out->test_count || wrong->match != RIDGE_MATCH_WRONG)
        return;
    if (out->tests[i].outcome == RIDGE_OUTCOME_PASS && strcmp(wrong->cause_id, "scattered") == 0)
        snprintf(wrong->cause, sizeof(wrong->cause),
                 "few, scattered, the same at every launch: a rare value (overflow, a tie, a "
                 "branch), hardly a race");
    if (out->tests[i].outcome != RIDGE_OUTCOME_FAIL ||
        strcmp(wrong->cause_id, "pipeline_stage") == 0)
        return;
    snprintf(place, sizeof(place), "%.*s", (int)strcspn(wrong->cause, ":"), wrong->cause);
    snprintf(wrong->cause, sizeof(wrong->cause),
             "%.80s, other elements at each launch: a race, a missing barrier or fence", place);
    snprintf(wrong->cause_id, sizeof(wrong->cause_id), "race");
}

static ridge_status run_tests(checker *self, ridge_error *err)
{
    ridge_check_result *const out = self->out;

    for (int test = 0; test < RIDGE_TEST_COUNT && !check_should_stop(self); test++) {
        ridge_test_result *const to = &out->tests[out->test_count];
        ridge_error why = {.status = RIDGE_OK};
        ridge_status status;

        if (!check_looks(self, (ridge_test)test))
            continue;
        out->test_count++;
        *to = (ridge_test_result){.test = (ridge_test)test, .outcome = RIDGE_OUTCOME_PASS};
        status = check_test_of((ridge_test)test)(self, to, &why);
        if (ridge_status_is_refusal(status)) {
            check_outcome(to, RIDGE_OUTCOME_REFUSED, "%s", why.text);
            if (out->test_count == 1) { /* the first launch of all: it does not take the case */
                refuse(self, &why);
                return RIDGE_OK;
            }
            if (status == RIDGE_ERR_UNSUPPORTED && is_the_same((ridge_test)test))
                check_outcome(to, RIDGE_OUTCOME_FAIL,
                              "refuses what it took before, in the same buffers: %s", why.text);
        } else if (status != RIDGE_OK && self->has_launch_failed) {
            check_outcome(to, RIDGE_OUTCOME_FAIL, "answers an error: %s", why.text);
            break; /* it would in the other tests too */
        } else if (status != RIDGE_OK) {
            return ridge_fail(err, status, "%s: %s", ridge_test_name((ridge_test)test), why.text);
        }
    }
    out->outcome = RIDGE_OUTCOME_SKIPPED;
    for (size_t i = 0; i < out->test_count; i++)
        conclude(self, &out->tests[i]);
    weigh_race(out);
    return RIDGE_OK;
}

static bool has_output(const check_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->buffers[i].is_output)
            return true;
    return false;
}

static ridge_status check_prepared(checker *self, ridge_error *err)
{
    ridge_error why = {.status = RIDGE_OK};
    bool fits;
    ridge_status status = check_set_describe(&self->set, &why);

    if (ridge_status_is_refusal(status)) {
        refuse(self, &why);
        return RIDGE_OK;
    }
    if (status != RIDGE_OK)
        return ridge_fail(err, status, "%s", why.text);
    if (!has_output(&self->set)) {
        skip_all(self, "describes no output");
        return RIDGE_OK;
    }
    status = ridge_kernel_work_of(self->kernel, &self->at, &self->work, err);
    if (status == RIDGE_OK)
        status = check_rows_choose(self, err);
    if (status == RIDGE_OK)
        status = fit_memory(self, &fits, err);
    if (status != RIDGE_OK || !fits)
        return status;
    if (self->kernel->reference == NULL)
        snprintf(self->no_reference, sizeof(self->no_reference), "the kernel brings no reference");
    self->out->is_verified = self->no_reference[0] == '\0';
    status = check_set_allocate(&self->set, CHECK_LEFT, self->alias_from_bytes, err);
    if (status != RIDGE_OK)
        return status;
    status = check_set_prepare(&self->set, &why);
    if (ridge_status_is_refusal(status)) {
        refuse(self, &why);
        return RIDGE_OK;
    }
    return status == RIDGE_OK ? run_tests(self, err) : ridge_fail(err, status, "%s", why.text);
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

ridge_status ridge_check_kernel(ridge_device *device, const ridge_kernel *kernel,
                                const ridge_case *at, const ridge_check_options *options,
                                ridge_check_result *out, ridge_error *err)
{
    static const ridge_check_options defaults = {.tests = 0};
    const double begin = seconds_now();
    checker *const self = ridge_calloc(1, sizeof(*self));
    uint64_t tests;
    ridge_status status;

    memset(out, 0, sizeof(*out));
    if (self == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for a check");
    self->device = device;
    self->kernel = kernel;
    self->options = options != NULL ? options : &defaults;
    self->out = out;
    self->at = *at;
    tests =
        self->options->tests != 0 ? self->options->tests : (UINT64_C(1) << RIDGE_TEST_COUNT) - 1;
    self->enabled = tests & ~self->options->without;
    out->at = *at;
    out->worst_scaled_error = NAN;
    out->mismatch_test = RIDGE_TEST_VALUES;
    out->mismatch.period.axis = -1;
    self->set =
        (check_set){.device = device, .kernel = kernel, .at = &self->at, .kept = &self->kept};
    status = ridge_stream_create(device, &self->stream, err);
    if (status == RIDGE_OK) {
        self->set.stream = self->stream;
        status = check_prepared(self, err);
    }
    check_capture_release(&self->base);
    check_set_release(&self->set);
    check_kept_release(&self->kept);
    ridge_stream_free(self->stream);
    ridge_free(self->rows);
    ridge_free(self);
    if (status != RIDGE_OK)
        memset(out, 0, sizeof(*out));
    else
        out->duration_s = seconds_now() - begin;
    return status;
}
