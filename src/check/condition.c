/* SPDX-License-Identifier: Apache-2.0
 *
 * How far the right answer itself moves when its inputs are rounded once more. What a kernel rounds
 * on the way acts like other inputs, a rounding away (a backward error; Higham, Accuracy and
 * Stability, 1.5), so no kernel can be asked to be nearer: exp(x - max) is off by |x - max| roundings
 * however it is written. Only the reference is asked, so this holds for any formula; one that is
 * linear moves by a rounding or two of its magnitude, which its bound holds many times.
 *
 * The greatest of several changes: all inputs by the same factor, which is what a difference of two
 * of them feels, then each up or down by the bits of a hash, so that two that matter go apart in one
 * of them. The first few tell whether it matters at all; else the others are not made. */
#include <math.h>

#include "check/check_run.h"

enum { CHANGES_FIRST = 4, CHANGES = 17 };

static const double STEP =
    0x1p-24; /* small enough to be linear, large beside a double's rounding */

static uint64_t mixed(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

static void change_inputs(const check_set *set, const check_answer *from, int change,
                          check_answer *to)
{
    for (size_t i = 0; i < set->count; i++) {
        const check_buffer *const of = &set->buffers[i];
        const bool is_float = ridge_dtype_is_float(of->desc.dtype);

        if (from->in[i] == NULL)
            continue;
        for (int64_t k = 0; k < of->element_count; k++) {
            const uint64_t bits = change == 0 ? 0 : mixed((uint64_t)k ^ (uint64_t)i << 56);
            const double step = (bits >> change) & 1 ? -STEP : STEP;

            to->in[i][k] = is_float ? from->in[i][k] * (1 + step) : from->in[i][k];
        }
    }
}

static bool has_condition(const check_answer *of, size_t index)
{
    return of->condition[index] != NULL && of->out[index] != NULL;
}

static void note_moves(const check_set *set, const check_answer *moved, check_answer *of)
{
    for (size_t i = 0; i < set->count; i++)
        for (int64_t k = 0; has_condition(of, i) && k < set->buffers[i].element_count; k++) {
            const double move = fabs(moved->out[i][k] - of->out[i][k]) / STEP;

            /* One that leaves the numbers, or comes from there, bounds nothing. */
            if (isfinite(move) && move > of->condition[i][k])
                of->condition[i][k] = move;
        }
}

/* Whether some bound would notice. */
static bool does_matter(const checker *self, const check_answer *of)
{
    const double length = fmax(4, (double)self->work.accumulate_length);

    for (size_t i = 0; i < self->set.count; i++)
        for (int64_t k = 0; has_condition(of, i) && k < self->set.buffers[i].element_count; k++) {
            const double size = fabs(of->out[i][k]), terms = of->magnitude[i][k];

            if (of->condition[i][k] > 0.0625 * (size + length * (isnan(terms) ? size : terms)))
                return true;
        }
    return false;
}

ridge_status check_condition(const checker *self, check_answer *of, ridge_error *err)
{
    check_answer moved;
    ridge_status status = check_answer_create(&self->set, false, &moved, err);

    for (size_t i = 0; i < self->set.count && status == RIDGE_OK; i++)
        if (of->out[i] != NULL && ridge_dtype_is_float(self->set.buffers[i].desc.dtype))
            status = check_doubles(&of->condition[i], self->set.buffers[i].element_count, 0, err);
    for (int change = 0; change < CHANGES && status == RIDGE_OK; change++) {
        if (check_should_stop(self) || (change == CHANGES_FIRST && !does_matter(self, of)))
            break;
        change_inputs(&self->set, of, change, &moved);
        status = check_answer_compute(self, &moved, false, err);
        if (status == RIDGE_OK)
            note_moves(&self->set, &moved, of);
    }
    check_answer_release(&moved);
    return status;
}
