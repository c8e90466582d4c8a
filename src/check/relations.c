/* SPDX-License-Identifier: Apache-2.0
 *
 * What wrong values are: nothing (poison, zero), something old, something from elsewhere, or the
 * right value times or plus a constant. Judged on up to 16,384 failing elements, evenly spread, so
 * that the time does not grow with the damage. A relation that right values would show too (zeros
 * among zeros, values that every bf16 tensor holds) does not count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/check_internal.h"

static double out_at(const check_facts *facts, size_t sample)
{
    return facts->pair->out[facts->samples[sample]];
}

static double ref_at(const check_facts *facts, size_t sample)
{
    return facts->pair->ref[facts->samples[sample]];
}

static double magnitude_at(const check_facts *facts, size_t sample)
{
    return facts->pair->magnitude == NULL ? NAN : facts->pair->magnitude[facts->samples[sample]];
}

/* out is what the kernel makes of wanted: within the tolerance of the element, scaled. */
static bool is_like(const check_facts *facts, size_t sample, double wanted, double scale)
{
    const double out = out_at(facts, sample);
    const double allowed =
        check_tolerance(facts->bounds, wanted, scale * magnitude_at(facts, sample));

    return fabs(out - wanted) <= 2 * allowed + 1e-12 * fabs(wanted);
}

void check_relation_add(check_facts *facts, ridge_relation_kind kind, double share, double value,
                        const char *text)
{
    ridge_mismatch *const out = facts->out;
    ridge_relation *to;
    size_t at = out->relation_count;

    if (at == RIDGE_MISMATCH_RELATIONS)
        return;
    /* Greatest share first; of equal ones the first found, the plainer kind. */
    while (at > 0 && out->relations[at - 1].share_frac < share) {
        out->relations[at] = out->relations[at - 1];
        at--;
    }
    out->relation_count++;
    to = &out->relations[at];
    *to = (ridge_relation){.kind = kind, .share_frac = share, .value = value};
    snprintf(to->text, sizeof(to->text), "%s", text);
}

double check_relation_share(const ridge_mismatch *out, ridge_relation_kind kind, double *value)
{
    for (size_t i = 0; i < out->relation_count; i++)
        if (out->relations[i].kind == kind) {
            if (value != NULL)
                *value = out->relations[i].value;
            return out->relations[i].share_frac;
        }
    return 0;
}

/* -- of an element alone ----------------------------------------------------------------------- */

static bool is_unwritten(const check_facts *facts, size_t sample)
{
    const ridge_comparand *const pair = facts->pair;
    const double out = out_at(facts, sample);

    if (pair->is_unwritten != NULL)
        return pair->is_unwritten[facts->samples[sample]];
    return isnan(pair->poison) ? isnan(out) : pair->poison != 0 && out == pair->poison;
}

static bool is_zero(const check_facts *facts, size_t sample)
{
    return out_at(facts, sample) == 0;
}

static bool is_stale(const check_facts *facts, size_t sample)
{
    return facts->pair->previous != NULL &&
           out_at(facts, sample) == facts->pair->previous[facts->samples[sample]];
}

static bool is_negated(const check_facts *facts, size_t sample)
{
    return ref_at(facts, sample) != 0 && is_like(facts, sample, -ref_at(facts, sample), 1);
}

static bool is_nan(const check_facts *facts, size_t sample)
{
    return isnan(out_at(facts, sample));
}

static const struct plain_relation {
    ridge_relation_kind kind;
    bool (*holds)(const check_facts *facts, size_t sample);
    double share_least;
    const char *text;
} plain_relations[] = {
    {RIDGE_RELATION_UNWRITTEN, is_unwritten, 0.001, "holds what was there before: not written"},
    {RIDGE_RELATION_NAN, is_nan, 0.001, "NaN"},
    {RIDGE_RELATION_ZERO, is_zero, 0.05, "out = 0"},
    {RIDGE_RELATION_STALE, is_stale, 0.2, "out = output of the launch before"},
    {RIDGE_RELATION_SIGN, is_negated, 0.2, "out = -ref"},
};

static double share_of(const check_facts *facts, bool (*holds)(const check_facts *, size_t))
{
    size_t count = 0;

    for (size_t i = 0; i < facts->sample_count; i++)
        count += holds(facts, i);
    return (double)count / (double)facts->sample_count;
}

static void find_plain(check_facts *facts)
{
    for (size_t i = 0; i < sizeof(plain_relations) / sizeof(plain_relations[0]); i++) {
        const struct plain_relation *const row = &plain_relations[i];
        const double share = share_of(facts, row->holds);

        if (share >= row->share_least)
            check_relation_add(facts, row->kind, share, NAN, row->text);
    }
}

/* -- constants --------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Whether right values differ: of one value what was added cannot be told from a factor, or from
 * anything else. */
static bool are_refs_varied(const check_facts *facts)
{
    for (size_t i = 1; i < facts->sample_count; i++)
        if (ref_at(facts, i) != ref_at(facts, 0))
            return true;
    return false;
}

/* The median of out / ref, or of out - ref, and its share; the mean of those that agree is sharper
 * than the median where the type is coarse. */
static void find_constant(check_facts *facts, double *values, bool is_ratio)
{
    size_t count = 0, agree = 0;
    double constant, above = 0, below = 0;

    for (size_t i = 0; i < facts->sample_count; i++) {
        const double out = out_at(facts, i), ref = ref_at(facts, i);

        if (!isfinite(out) || !isfinite(ref) || (is_ratio && ref == 0))
            continue;
        values[count++] = is_ratio ? out / ref : out - ref;
    }
    if (count < 4 || count * 2 < facts->sample_count)
        return;
    qsort(values, count, sizeof(*values), by_value);
    constant = values[count / 2];
    for (int round = 0; round < 2; round++) {
        agree = 0;
        above = below = 0;
        for (size_t i = 0; i < facts->sample_count; i++) {
            const double ref = ref_at(facts, i);

            if (!isfinite(ref) || !is_like(facts, i, is_ratio ? constant * ref : ref + constant,
                                           is_ratio ? fabs(constant) : 1))
                continue;
            agree++;
            above += is_ratio ? out_at(facts, i) * ref : out_at(facts, i) - ref;
            below += is_ratio ? ref * ref : 1;
        }
        if (agree == 0 || below == 0)
            return;
        constant = above / below;
    }
    if ((double)agree < 0.5 * (double)facts->sample_count || constant == 0 ||
        (is_ratio && fabs(constant - 1) < 0.01) ||
        (is_ratio && constant < 0 && fabs(constant + 1) < 0.01))
        return;
    {
        const double share = (double)agree / (double)facts->sample_count;
        char name[32], text[64];
        int64_t extents[RIDGE_BUFFER_DIMS + 2] = {facts->pair->accumulate_length};
        size_t used = extents[0] > 0;

        if (!is_ratio) {
            snprintf(text, sizeof(text), "out = ref %c %.6g", constant < 0 ? '-' : '+',
                     fabs(constant));
            check_relation_add(facts, RIDGE_RELATION_OFFSET, share, constant, text);
            return;
        }
        for (int axis = 0; axis < facts->pair->ndim; axis++)
            extents[used++] = check_real_extent(facts->pair, axis);
        check_ratio_name(constant, fmax(facts->bounds->unit_out / 2, 1e-6), extents, name,
                         sizeof(name));
        if (name[0] != '\0')
            snprintf(text, sizeof(text), "out = %s%s x ref", constant < 0 ? "-" : "", name);
        else
            snprintf(text, sizeof(text), "out = %.6g x ref", constant);
        check_relation_add(facts, RIDGE_RELATION_RATIO, share, constant, text);
    }
}

static void find_one_sided(check_facts *facts)
{
    size_t larger = 0, counted = 0, small = 0;
    double square = 0, share;

    for (size_t i = 0; i < facts->sample_count; i++)
        if (isfinite(ref_at(facts, i)))
            square += ref_at(facts, i) * ref_at(facts, i);
    for (size_t i = 0; i < facts->sample_count; i++) {
        const double out = out_at(facts, i), ref = ref_at(facts, i);

        if (!isfinite(out) || !isfinite(ref))
            continue;
        counted++;
        larger += fabs(out) > fabs(ref);
        small +=
            fabs(out - ref) <= 0.25 * fmax(fabs(ref), sqrt(square / (double)facts->sample_count));
    }
    facts->small_share = (double)small / (double)facts->sample_count;
    share = counted == 0 ? 0.5 : (double)larger / (double)counted;
    if (counted >= 16 && (share >= 0.9 || share <= 0.1) && facts->small_share > 0.5)
        check_relation_add(facts, RIDGE_RELATION_LARGER,
                           (double)counted / (double)facts->sample_count, share,
                           share > 0.5 ? "|out| > |ref|" : "|out| < |ref|");
}

/* -- from elsewhere ---------------------------------------------------------------------------- */

/* Share of a few thousand samples for which out is ref at another place; by chance: how often that
 * place holds the right value as well. */
static double moved_share(const check_facts *facts,
                          int64_t (*place)(const check_facts *, int64_t, int64_t), int64_t distance)
{
    const int64_t count = facts->out->element_count;
    const size_t stride = facts->sample_count / 1024 + 1;
    size_t hits = 0, chance = 0, looked = 0, here = 0;

    for (size_t i = 0; i < facts->sample_count; i += stride) {
        const int64_t from = place(facts, facts->samples[i], distance);

        looked++;
        if (from < 0 || from >= count)
            continue;
        here++;
        hits += is_like(facts, i, facts->pair->ref[from], 1);
        /* A neighbour's value at another failing element: what a coarse type gives by chance. */
        chance += is_like(
            facts, i, ref_at(facts, (i + facts->sample_count / 2 + 1) % facts->sample_count), 1);
        /* Few hits so far: not this one. */
        if (looked == 64 && hits < 16)
            return 0;
    }
    return here * 4 < looked || chance * 2 > hits ? 0 : (double)hits / (double)looked;
}

static int64_t place_shifted(const check_facts *facts, int64_t index, int64_t distance)
{
    (void)facts;
    return index + distance;
}

static int64_t place_transposed(const check_facts *facts, int64_t index, int64_t unused)
{
    const ridge_comparand *const pair = facts->pair;
    const int64_t columns = pair->shape[pair->ndim - 1], rows = pair->shape[pair->ndim - 2];
    const int64_t matrix = index / (rows * columns) * (rows * columns);
    const int64_t row = (index - matrix) / columns, column = (index - matrix) % columns;

    (void)unused;
    /* A square one is read across its diagonal; else the memory was read with the other stride. */
    return matrix + column * rows + row;
}

enum { SHIFTS_MOST = 128 };

static size_t shifts_of(const ridge_comparand *pair, int64_t *out)
{
    size_t count = 0;
    int64_t stride = 1;

    for (int64_t by = 1; by <= 256; by *= 2)
        out[count++] = by;
    out[count++] = 3;
    for (int axis = pair->ndim - 1; axis >= 0; axis--) {
        if (pair->tile[axis] > 1)
            out[count++] = pair->tile[axis] * stride;
        for (int64_t by = 1; by <= 128 && axis < pair->ndim - 1; by *= 2)
            out[count++] = by * stride;
        stride *= pair->shape[axis];
    }
    return count;
}

/* Distances of any size: where ref holds the values of a few samples. */
static size_t searched_shifts(const check_facts *facts, int64_t *out, size_t most)
{
    enum { PROBES = 4, MATCHES = 8 };
    const int64_t count = facts->out->element_count;
    size_t found = 0;

    for (size_t k = 0; k < PROBES && count <= INT64_C(1) << 22; k++) {
        const size_t sample = (2 * k + 1) * facts->sample_count / ((size_t)2 * PROBES);
        const size_t before = found;
        size_t matches = 0;

        if (!isfinite(out_at(facts, sample)) || out_at(facts, sample) == 0)
            continue;
        for (int64_t i = 0; i < count && matches <= MATCHES; i++) {
            const double ref = facts->pair->ref[i];

            if (fabs(out_at(facts, sample) - ref) > 4 * facts->bounds->unit_out * fabs(ref) ||
                !is_like(facts, sample, ref, 1))
                continue;
            if (matches++ < MATCHES && found < most)
                out[found++] = i - facts->samples[sample];
        }
        if (matches > MATCHES) /* a common value says nothing */
            found = before;
    }
    return found;
}

static void find_moved(check_facts *facts)
{
    int64_t shifts[2 * SHIFTS_MOST];
    const ridge_comparand *const pair = facts->pair;
    size_t count = shifts_of(pair, shifts);
    double best_share = 0;
    int64_t best = 0;
    char text[64];

    if (pair->ndim >= 2 && pair->shape[pair->ndim - 1] > 1 && pair->shape[pair->ndim - 2] > 1) {
        const double share = moved_share(facts, place_transposed, 0);

        if (share > 0.5)
            check_relation_add(facts, RIDGE_RELATION_TRANSPOSED, share, NAN,
                               "out = ref with its last axes swapped");
    }
    for (size_t i = count; i-- > 0;)
        shifts[count + i] = -shifts[i];
    count *= 2;
    for (int round = 0; round < 2 && best_share < 0.5; round++) {
        if (round == 1)
            count = searched_shifts(facts, shifts, SHIFTS_MOST);
        for (size_t i = 0; i < count; i++) {
            const double share = shifts[i] == 0 ? 0 : moved_share(facts, place_shifted, shifts[i]);

            if (share > best_share * 1.01) {
                best_share = share;
                best = shifts[i];
            }
        }
    }
    if (best_share < 0.5)
        return;
    snprintf(text, sizeof(text), "out[i] = ref[i %c %lld]", best < 0 ? '-' : '+',
             llabs((long long)best));
    check_relation_add(facts, RIDGE_RELATION_SHIFTED, best_share, (double)best, text);
}

/* -- equal to an input ------------------------------------------------------------------------- */

static bool holds_value(const double *sorted, size_t count, double value)
{
    return !isnan(value) && bsearch(&value, sorted, count, sizeof(*sorted), by_value) != NULL;
}

static ridge_status find_input(check_facts *facts, size_t number, ridge_error *err)
{
    enum { MOST = 1 << 18 };
    const double *const input = facts->pair->inputs[number];
    const int64_t count = facts->pair->input_counts[number];
    size_t kept = 0, hits = 0, right = 0, same = 0;
    double *sorted;
    char text[64];

    if (input == NULL || count == 0)
        return RIDGE_OK;
    for (size_t i = 0; i < facts->sample_count && count == facts->out->element_count; i++)
        same += out_at(facts, i) == input[facts->samples[i]] && out_at(facts, i) != 0;
    if ((double)same >= 0.5 * (double)facts->sample_count) {
        snprintf(text, sizeof(text), "out[i] = input %zu [i]", number);
        check_relation_add(facts, RIDGE_RELATION_INPUT, (double)same / (double)facts->sample_count,
                           (double)number, text);
        return RIDGE_OK;
    }
    if (count > MOST)
        return RIDGE_OK;
    sorted = ridge_calloc((size_t)count, sizeof(*sorted));
    if (sorted == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory to sort an input");
    for (int64_t i = 0; i < count; i++)
        if (!isnan(input[i]))
            sorted[kept++] = input[i];
    qsort(sorted, kept, sizeof(*sorted), by_value);
    for (size_t i = 0; i < facts->sample_count; i++) {
        const double out = out_at(facts, i);

        hits += out != 0 && holds_value(sorted, kept, out);
        right += holds_value(sorted, kept, check_rounded(facts->bounds, ref_at(facts, i)));
    }
    ridge_free(sorted);
    if ((double)hits >= 0.9 * (double)facts->sample_count && right * 2 < hits) {
        snprintf(text, sizeof(text), "an element of input %zu", number);
        check_relation_add(facts, RIDGE_RELATION_INPUT, (double)hits / (double)facts->sample_count,
                           (double)number, text);
    }
    return RIDGE_OK;
}

ridge_status check_relations(check_facts *facts, ridge_error *err)
{
    double *const values = ridge_calloc(facts->sample_count, sizeof(*values));
    ridge_status status = RIDGE_OK;

    if (values == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory to relate wrong elements");
    find_plain(facts);
    find_constant(facts, values, true);
    if (are_refs_varied(facts))
        find_constant(facts, values, false);
    find_one_sided(facts);
    find_moved(facts);
    for (size_t i = 0; i < facts->pair->input_count && status == RIDGE_OK; i++)
        status = find_input(facts, i, err);
    if (status == RIDGE_OK)
        status = check_terms(facts, err);
    ridge_free(values);
    return status;
}
