/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of values. The case's own are compared within bounds; integers, position codes and one-hot
 * inputs bit for bit, wherever the reference itself shows that this is fair: its outputs are
 * integers that the type holds, and no sum of magnitudes leaves what a float counts exactly. What is
 * not linear (a softmax, a norm) excludes itself that way. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "check/check_run.h"

static double *decode(const check_buffer *of, const unsigned char *bits, ridge_error *err)
{
    double *const out =
        ridge_calloc(of->element_count > 0 ? (size_t)of->element_count : 1, sizeof(*out));

    if (out == NULL) {
        ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for output %s", of->desc.name);
        return NULL;
    }
    ridge_dtype_load_all(of->desc.dtype, bits, of->element_count, out);
    return out;
}

/* Tensor cores align products by truncation; of an output of one of their types it is assumed. */
static double unit_of(const checker *self, const check_buffer *of)
{
    const bool is_gpu = ridge_device_get_info(self->device)->kind == RIDGE_DEVICE_CUDA;
    const ridge_dtype dtype = of->desc.dtype;

    return is_gpu && dtype != RIDGE_DTYPE_F32 && dtype != RIDGE_DTYPE_F64 ? 0x1p-22 : 0;
}

typedef struct side {
    check_answer answer;
    check_capture own, previous;
    const check_capture *capture; /* own, or that of the case's own values */
    bool has_previous, has_condition;
} side;

static void side_release(side *of)
{
    check_answer_release(&of->answer);
    check_capture_release(&of->own);
    check_capture_release(&of->previous);
}

static ridge_status compare_one(checker *self, const side *of, size_t index, bool is_exact,
                                bool has_plain, ridge_mismatch *out, ridge_error *err)
{
    const check_buffer *const buffer = &self->set.buffers[index];
    const double *inputs[RIDGE_KERNEL_BUFFERS];
    int64_t counts[RIDGE_KERNEL_BUFFERS];
    bool *const is_unwritten = ridge_calloc((size_t)buffer->element_count + 1, sizeof(bool));
    double *got = decode(buffer, of->capture->bits[index], err), *previous = NULL;
    ridge_comparand pair = {.name = buffer->desc.name,
                            .ref = of->answer.out[index],
                            .magnitude = of->answer.magnitude[index],
                            .condition = of->answer.condition[index],
                            .plain = has_plain ? of->answer.plain[index] : NULL,
                            .dtype = buffer->desc.dtype,
                            .ndim = buffer->small.ndim,
                            .accumulate_length = self->work.accumulate_length,
                            .accumulate_unit = unit_of(self, buffer),
                            .is_exact = is_exact,
                            .inputs = inputs,
                            .input_counts = counts,
                            .is_unwritten = is_unwritten};
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    if (of->has_previous)
        previous = decode(buffer, of->previous.bits[index], err);
    if (is_unwritten == NULL || got == NULL || (of->has_previous && previous == NULL)) {
        ridge_fail(err, status, "no memory to compare %s", buffer->desc.name);
        goto out;
    }
    if (buffer->owner == index && buffer->desc.role == RIDGE_ROLE_OUT)
        check_poison_flag(buffer->desc.dtype, 0, of->capture->bits[index], buffer->element_count,
                          is_unwritten);
    pair.out = got;
    pair.previous = previous;
    memcpy(pair.shape, buffer->small.shape, sizeof(pair.shape));
    if (self->options->tile != NULL)
        memcpy(pair.tile, self->options->tile, sizeof(pair.tile));
    if (buffer->row_dim == 0) {
        pair.rows = self->rows;
        pair.rows_extent = buffer->desc.shape[0];
    }
    for (size_t i = 0; i < self->set.count; i++)
        if (of->answer.in[i] != NULL) {
            inputs[pair.input_count] = of->answer.in[i];
            counts[pair.input_count++] = self->set.buffers[i].element_count;
        }
    status = ridge_compare_arrays(&pair, out, err);
out:
    ridge_free(previous);
    ridge_free(got);
    ridge_free(is_unwritten);
    return status;
}

static void describe(const ridge_mismatch *of, bool is_exact, ridge_test_result *out)
{
    if (of->match == RIDGE_MATCH_WRONG)
        check_outcome(out, RIDGE_OUTCOME_FAIL, "%s: %" PRId64 " of %" PRId64 " wrong; %s", of->name,
                      of->wrong_count, of->element_count, of->cause);
    else if (of->match == RIDGE_MATCH_SUSPICIOUS && !is_exact && of->suspicious_count > 0)
        check_outcome(out, RIDGE_OUTCOME_SUSPICIOUS,
                      "%s: %" PRId64 " of %" PRId64
                      " beyond what random rounding gives, within the hard bound",
                      of->name, of->suspicious_count, of->element_count);
    else if (of->match == RIDGE_MATCH_SUSPICIOUS)
        check_outcome(out, RIDGE_OUTCOME_SUSPICIOUS,
                      "%s: errors %.3g times those of plain evaluation in the same types", of->name,
                      of->plain_ratio);
}

/* One output; where rounding does not explain it, once more with what rounded inputs explain. */
static ridge_status compare_two(checker *self, side *of, size_t index, bool is_exact,
                                bool has_plain, ridge_mismatch *out, ridge_error *err)
{
    ridge_status status = compare_one(self, of, index, is_exact, has_plain, out, err);

    if (status != RIDGE_OK || is_exact || out->structure_count > 0 ||
        out->wrong_count + out->suspicious_count == 0)
        return status;
    if (!of->has_condition)
        status = check_condition(self, &of->answer, err);
    of->has_condition = true;
    return status == RIDGE_OK ? compare_one(self, of, index, is_exact, has_plain, out, err)
                              : status;
}

/* Every output; the first that fails stays in the result. */
static ridge_status compare(checker *self, side *of, bool is_exact, bool has_plain,
                            ridge_test_result *out, ridge_error *err)
{
    ridge_check_result *const result = self->out;

    for (size_t i = 0; i < self->set.count; i++) {
        ridge_mismatch *mismatch;
        ridge_status status;

        if (!self->set.buffers[i].is_output)
            continue;
        mismatch = ridge_calloc(1, sizeof(*mismatch));
        if (mismatch == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory to compare");
        status = compare_two(self, of, i, is_exact, has_plain, mismatch, err);
        if (status == RIDGE_OK) {
            const bool is_wrong = mismatch->match == RIDGE_MATCH_WRONG;

            if (!is_exact && !(mismatch->worst_scaled_error <= result->worst_scaled_error) &&
                !isnan(mismatch->worst_scaled_error))
                result->worst_scaled_error = mismatch->worst_scaled_error;
            if (!self->has_mismatch && (is_wrong || (out->test == RIDGE_TEST_VALUES &&
                                                     (result->mismatch.ndim == 0 ||
                                                      mismatch->match > result->mismatch.match)))) {
                result->mismatch = *mismatch;
                result->mismatch_test = out->test;
                self->has_mismatch = is_wrong;
            }
            if (out->outcome != RIDGE_OUTCOME_FAIL)
                describe(mismatch, is_exact, out);
        }
        ridge_free(mismatch);
        if (status != RIDGE_OK)
            return status;
    }
    return RIDGE_OK;
}

static bool has_reference(const checker *self, ridge_test_result *out)
{
    if (self->no_reference[0] != '\0')
        check_outcome(out, RIDGE_OUTCOME_SKIPPED, "%s", self->no_reference);
    return self->no_reference[0] == '\0';
}

/* Launches, and computes the answer to what the buffers held. */
static ridge_status launch_and_answer(checker *self, const check_plan *plan, side *out,
                                      ridge_error *err)
{
    ridge_status status = check_answer_create(&self->set, false, &out->answer, err);

    if (status == RIDGE_OK)
        status = check_launch(self, &self->set, plan, &out->answer, err);
    if (status == RIDGE_OK)
        status = check_capture_take(&self->set, &out->own, err);
    out->capture = &out->own;
    return status == RIDGE_OK ? check_answer_compute(self, &out->answer, false, err) : status;
}

/* Whether the right outputs of the launch before are those of this one, nearly everywhere: what
 * equals the output before says nothing of a kept answer then. */
static ridge_status is_previous_alike(checker *self, const side *now, bool *is_alike,
                                      ridge_error *err)
{
    check_plan plan = check_case_plan(self);
    side before = {.has_previous = false};
    int64_t same = 0, count = 0;
    ridge_status status;

    plan.seed++;
    status = launch_and_answer(self, &plan, &before, err);
    for (size_t i = 0; i < self->set.count && status == RIDGE_OK; i++) {
        const check_buffer *const of = &self->set.buffers[i];

        for (int64_t k = 0; k < of->element_count && of->is_output; k++) {
            same += ridge_dtype_round(of->desc.dtype, before.answer.out[i][k]) ==
                    ridge_dtype_round(of->desc.dtype, now->answer.out[i][k]);
            count++;
        }
    }
    *is_alike = same * 2 > count;
    side_release(&before);
    return status;
}

/* The causes of what is wrong once more, without the output of the launch before. */
static ridge_status compare_without_previous(checker *self, side *got, bool has_plain,
                                             ridge_test_result *out, ridge_error *err)
{
    check_capture_release(&got->previous);
    got->has_previous = false;
    self->has_mismatch = false;
    out->outcome = RIDGE_OUTCOME_PASS;
    return compare(self, got, false, has_plain, out, err);
}

ridge_status check_values(checker *self, ridge_test_result *out, ridge_error *err)
{
    bool is_alike = false;
    const bool has_plain = self->kernel->plain != NULL;
    check_plan plan = check_case_plan(self);
    side got = {.has_previous = true, .capture = &self->base};
    ridge_status status;

    /* A launch on other values first: an answer that is kept from it is seen. */
    plan.seed++;
    status = check_launch(self, &self->set, &plan, NULL, err);
    if (status != RIDGE_OK)
        return status; /* also a refusal, whether there is a reference or not */
    if (!has_reference(self, out))
        return RIDGE_OK;
    status = check_capture_take(&self->set, &got.previous, err);
    plan.seed--;
    if (status == RIDGE_OK)
        status = check_answer_create(&self->set, has_plain, &got.answer, err);
    if (status == RIDGE_OK)
        status = check_launch(self, &self->set, &plan, &got.answer, err);
    if (status == RIDGE_OK)
        status = check_capture_take(&self->set, &self->base, err);
    self->has_base = status == RIDGE_OK;
    if (status == RIDGE_OK)
        status = check_answer_compute(self, &got.answer, has_plain, err);
    if (status == RIDGE_OK)
        status = compare(self, &got, false, has_plain, out, err);
    if (status == RIDGE_OK && self->has_mismatch &&
        strcmp(self->out->mismatch.cause_id, "stale") == 0) {
        status = is_previous_alike(self, &got, &is_alike, err);
        if (status == RIDGE_OK && is_alike)
            status = compare_without_previous(self, &got, has_plain, out, err);
    }
    side_release(&got);
    return status;
}

/* -- equal in every bit ------------------------------------------------------------------------ */

typedef enum fairness {
    FAIR,
    UNFAIR_HERE,       /* all the same, or too large: another case may do */
    UNFAIR_BY_FORMULA, /* fractions */
} fairness;

/* Whole numbers that the type holds, of terms that a float sums exactly. */
static fairness is_fair(const checker *self, const check_answer *answer)
{
    double least = INFINITY, greatest = -INFINITY;

    for (size_t i = 0; i < self->set.count; i++) {
        const check_buffer *const of = &self->set.buffers[i];
        const double most = of->desc.dtype == RIDGE_DTYPE_F64 ? 0x1p53 : 0x1p24;

        for (int64_t k = 0; k < of->element_count && of->is_output; k++) {
            const double value = answer->out[i][k], terms = answer->magnitude[i][k];

            if (isfinite(value) && value != rint(value))
                return UNFAIR_BY_FORMULA;
            if (!(fabs(value) <= most) || terms > most ||
                ridge_dtype_round(of->desc.dtype, value) != value)
                return UNFAIR_HERE;
            least = fmin(least, value);
            greatest = fmax(greatest, value);
        }
    }
    return least < greatest ? FAIR : UNFAIR_HERE;
}

typedef struct exact_plan {
    ridge_values values;
    int first_values; /* -1 */
} exact_plan;

/* What was learnt of a plan, for a test and type, from another case. */
static bool *learnt_of(const checker *self, ridge_test test, int plan)
{
    ridge_check_memory *const memory = self->options->memory;
    const ridge_dtype dtype = self->at.dtype;

    if (memory == NULL || (unsigned)dtype >= RIDGE_DTYPE_COUNT || test > RIDGE_TEST_PRECISION)
        return NULL;
    return &memory->gives_fractions[dtype][test][plan][self->work.accumulate_length > 1];
}

/* Compares only where the answer can be demanded bit for bit. */
static ridge_status try_exact(checker *self, const exact_plan *wanted, fairness *is, int number,
                              ridge_test_result *out, ridge_error *err)
{
    bool *const learnt = learnt_of(self, out->test, number);
    check_plan plan = check_plain_plan;
    side got = {.has_previous = false};
    ridge_status status;

    *is = UNFAIR_BY_FORMULA;
    if (learnt != NULL && *learnt)
        return RIDGE_OK;
    plan.values = (int)wanted->values;
    plan.first_values = wanted->first_values;
    plan.seed = self->at.seed;
    status = launch_and_answer(self, &plan, &got, err);
    if (status == RIDGE_OK) {
        *is = is_fair(self, &got.answer);
        if (learnt != NULL && *is == UNFAIR_BY_FORMULA)
            *learnt = true;
        if (*is == FAIR)
            status = compare(self, &got, true, false, out, err);
    }
    side_release(&got);
    return status;
}

/* The first plan whose answer can be demanded bit for bit. */
static ridge_status check_exact(checker *self, const exact_plan *plans, int plan_count,
                                const char *why_not, ridge_test_result *out, ridge_error *err)
{
    if (!has_reference(self, out))
        return RIDGE_OK;
    if (self->is_whole_but_large) {
        check_outcome(out, RIDGE_OUTCOME_SKIPPED, "large, and no axis of rows to choose from");
        return RIDGE_OK;
    }
    for (int i = 0; i < plan_count; i++) {
        fairness is = UNFAIR_HERE;
        const ridge_status status = try_exact(self, &plans[i], &is, i, out, err);

        if (status != RIDGE_OK || is == FAIR)
            return status;
    }
    check_outcome(out, RIDGE_OUTCOME_SKIPPED, "does not apply: %s", why_not);
    return RIDGE_OK;
}

static const char not_integers[] = "the right outputs are not all integers that the type holds";

ridge_status check_integers(checker *self, ridge_test_result *out, ridge_error *err)
{
    static const exact_plan plans[] = {{RIDGE_VALUES_SMALL_INT, -1}, {RIDGE_VALUES_UNIT_INT, -1}};

    return check_exact(self, plans, 2, not_integers, out, err);
}

ridge_status check_position(checker *self, ridge_test_result *out, ridge_error *err)
{
    static const exact_plan plans[] = {{RIDGE_VALUES_INDEX, -1}};

    return check_exact(self, plans, 1, not_integers, out, err);
}

ridge_status check_one_hot(checker *self, ridge_test_result *out, ridge_error *err)
{
    static const exact_plan plans[] = {{RIDGE_VALUES_INDEX, RIDGE_VALUES_ONE_HOT},
                                       {RIDGE_VALUES_SMALL_INT, RIDGE_VALUES_ONE_HOT},
                                       {RIDGE_VALUES_ONE_HOT, RIDGE_VALUES_SMALL_INT}};

    return check_exact(self, plans, 3, not_integers, out, err);
}

ridge_status check_precision(checker *self, ridge_test_result *out, ridge_error *err)
{
    static const exact_plan plans[] = {{RIDGE_VALUES_ONE_HOT, RIDGE_VALUES_ODD12},
                                       {RIDGE_VALUES_ODD12, RIDGE_VALUES_ONE_HOT},
                                       {RIDGE_VALUES_ODD12, -1}};

    for (size_t i = 0; i < self->set.count; i++) {
        const ridge_dtype dtype = self->set.buffers[i].desc.dtype;

        if (ridge_dtype_is_float(dtype) && dtype != RIDGE_DTYPE_F32 && dtype != RIDGE_DTYPE_F64) {
            check_outcome(out, RIDGE_OUTCOME_SKIPPED, "does not apply: %s is %s",
                          self->set.buffers[i].desc.name, ridge_dtype_name(dtype));
            return RIDGE_OK;
        }
    }
    return check_exact(self, plans, 3, not_integers, out, err);
}

/* -- scaled, and another seed ------------------------------------------------------------------ */

ridge_status check_scaling(checker *self, ridge_test_result *out, ridge_error *err)
{
    static const int exponents[] = {5, -5};

    if (!has_reference(self, out))
        return RIDGE_OK;
    if (self->row_count > 0 || self->is_whole_but_large) {
        check_outcome(out, RIDGE_OUTCOME_SKIPPED, "only some rows of a case this large are read");
        return RIDGE_OK;
    }
    for (size_t i = 0; i < 2 && out->outcome != RIDGE_OUTCOME_FAIL; i++) {
        check_plan plan = check_plain_plan;
        side got = {.has_previous = false};
        ridge_status status;

        plan.values = RIDGE_VALUES_NORMAL;
        plan.seed = self->at.seed;
        plan.scale_exponent = exponents[i];
        status = launch_and_answer(self, &plan, &got, err);
        if (status == RIDGE_OK)
            status = compare(self, &got, false, false, out, err);
        side_release(&got);
        if (status != RIDGE_OK)
            return status;
    }
    return RIDGE_OK;
}

/* Elements that differ between two seeds, in what came out and, with answers, in what should have. */
static void count_different(const checker *self, const side *a, const side *b, bool has_answer,
                            int64_t *got, int64_t *wanted, int64_t *count)
{
    *got = *wanted = *count = 0;
    for (size_t i = 0; i < self->set.count; i++) {
        const check_buffer *const of = &self->set.buffers[i];
        const ridge_dtype dtype = of->desc.dtype;

        if (!of->is_output)
            continue;
        for (int64_t k = 0; k < of->element_count; k++) {
            *got += ridge_dtype_bits(dtype, a->capture->bits[i], k) !=
                    ridge_dtype_bits(dtype, b->capture->bits[i], k);
            *wanted += has_answer && ridge_dtype_round(dtype, a->answer.out[i][k]) !=
                                         ridge_dtype_round(dtype, b->answer.out[i][k]);
        }
        *count += of->element_count;
    }
}

static ridge_status launch_two(checker *self, side sides[2], bool has_answer, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    for (size_t i = 0; i < 2 && status == RIDGE_OK; i++) {
        check_plan plan = check_plain_plan;

        plan.values = RIDGE_VALUES_NORMAL;
        plan.seed = self->at.seed + 17 * i;
        side_release(&sides[i]);
        sides[i].capture = &sides[i].own;
        if (has_answer) {
            status = launch_and_answer(self, &plan, &sides[i], err);
            continue;
        }
        status = check_launch(self, &self->set, &plan, NULL, err);
        if (status == RIDGE_OK)
            status = check_capture_take(&self->set, &sides[i].own, err);
    }
    return status;
}

static bool has_input_elements(const checker *self)
{
    for (size_t i = 0; i < self->set.count; i++)
        if (self->set.buffers[i].is_input && self->set.buffers[i].element_count > 0)
            return true;
    return false;
}

/* The right outputs are asked for only where few elements change. */
ridge_status check_different(checker *self, ridge_test_result *out, ridge_error *err)
{
    const bool has_right = self->no_reference[0] == '\0';
    side sides[2] = {{.has_previous = false}, {.has_previous = false}};
    int64_t got = 0, wanted = 0, count = 0;
    bool has_answer = false;
    ridge_status status;

    if (!has_input_elements(self)) { /* as of a sum of nothing, which is always 0 */
        check_outcome(out, RIDGE_OUTCOME_SKIPPED, "does not apply: the inputs have no elements");
        return RIDGE_OK;
    }
    status = launch_two(self, sides, false, err);
    if (status == RIDGE_OK)
        count_different(self, &sides[0], &sides[1], false, &got, &wanted, &count);
    if (status == RIDGE_OK && has_right && (double)got < 0.9 * (double)count) {
        has_answer = true;
        status = launch_two(self, sides, true, err);
        if (status == RIDGE_OK)
            count_different(self, &sides[0], &sides[1], true, &got, &wanted, &count);
    }
    if (status == RIDGE_OK) {
        if (count == 0 || (has_answer && wanted * 2 < count))
            check_outcome(out, RIDGE_OUTCOME_SKIPPED,
                          "does not apply: the right outputs of two seeds are much the same");
        else if (has_answer ? (double)got < 0.9 * (double)wanted : got == 0)
            check_outcome(out, RIDGE_OUTCOME_FAIL,
                          "other inputs change %" PRId64 " of %" PRId64
                          " elements%s: a constant, or an answer that was kept",
                          got, count, has_answer ? "" : " (no reference to compare with)");
    }
    side_release(&sides[0]);
    side_release(&sides[1]);
    return status;
}
