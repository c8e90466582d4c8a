/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that fail by what a table of lengths or offsets, one a row, says of them. */
#include <math.h>
#include <stdio.h>

#include "check/check_internal.h"

/* What the integers of an input, one a row, have in common in failing rows and not in others: their
 * range, or a residue. */
typedef struct length_fact {
    double low, high;
    int modulus, residue; /* modulus 0: the range tells */
} length_fact;

static double length_at(const double *lengths, int64_t row, bool is_offsets)
{
    return is_offsets ? lengths[row + 1] - lengths[row] : lengths[row];
}

/* Tiles end at multiples of a power of two. A length of 0 and the greatest one (a whole row) may
 * pass for want of a boundary. */
static bool residue_tells(const check_axis *axis, const double *lengths, bool is_offsets,
                          double greatest, length_fact *out)
{
    for (int modulus = 128; modulus >= 4; modulus /= 2) {
        int64_t failing = 0, passing = 0;
        int residue = -1;

        for (int64_t k = 0; k < axis->extent && residue != -2; k++) {
            const double length = length_at(lengths, k, is_offsets);
            const int found = (int)fmod(length, modulus);

            if (axis->count[k] == 0)
                continue;
            failing++;
            residue = residue == -1 || residue == found ? found : -2;
        }
        for (int64_t k = 0; k < axis->extent && residue >= 0; k++) {
            const double length = length_at(lengths, k, is_offsets);

            if (axis->count[k] != 0)
                continue;
            passing++;
            if (length > 0 && length < greatest && (int)fmod(length, modulus) == residue)
                residue = -2;
        }
        if (residue >= 0 && failing >= 4 && passing >= 4) {
            *out = (length_fact){.modulus = modulus, .residue = residue};
            return true;
        }
    }
    return false;
}

static bool range_tells(const check_axis *axis, const double *lengths, bool is_offsets,
                        length_fact *out)
{
    int64_t failing = 0, passing = 0, inside = 0;

    *out = (length_fact){.low = INFINITY, .high = -INFINITY};
    for (int64_t k = 0; k < axis->extent; k++)
        if (axis->count[k] != 0) {
            out->low = fmin(out->low, length_at(lengths, k, is_offsets));
            out->high = fmax(out->high, length_at(lengths, k, is_offsets));
            failing++;
        }
    for (int64_t k = 0; k < axis->extent; k++) {
        const double length = length_at(lengths, k, is_offsets);

        passing += axis->count[k] == 0;
        inside += axis->count[k] == 0 && length >= out->low && length <= out->high;
    }
    return failing >= 2 && passing >= 2 && inside == 0;
}

static bool lengths_tell(const check_facts *facts, size_t number, length_fact *out)
{
    const ridge_comparand *const pair = facts->pair;
    const int64_t count = pair->input_counts[number];
    const double *const lengths = pair->inputs[number];

    for (int i = 0; i < pair->ndim; i++) {
        const check_axis *const axis = &facts->axes[i];
        const bool is_offsets = count == axis->extent + 1;
        double greatest = 0;
        bool are_lengths = true;

        if (axis->extent < 4 || axis->bucket > 1 || lengths == NULL ||
            (count != axis->extent && !is_offsets))
            continue;
        for (int64_t k = 0; k < axis->extent && are_lengths; k++) {
            const double length = length_at(lengths, k, is_offsets);

            are_lengths = length == rint(length) && length >= 0;
            greatest = fmax(greatest, length);
        }
        if (are_lengths && (range_tells(axis, lengths, is_offsets, out) ||
                            residue_tells(axis, lengths, is_offsets, greatest, out)))
            return true;
    }
    return false;
}

bool check_rows_of_length(const check_facts *facts, char *text, size_t size)
{
    static const char because[] = "a boundary of the lengths, or the mask";
    length_fact fact;

    for (size_t i = 0; i < facts->pair->input_count; i++) {
        if (!lengths_tell(facts, i, &fact))
            continue;
        if (fact.modulus > 0)
            snprintf(text, size, "only rows whose length mod %d is %d: %s", fact.modulus,
                     fact.residue, because);
        else if (fact.low == fact.high)
            snprintf(text, size, "only rows of length %.0f: %s", fact.low, because);
        else
            snprintf(text, size, "only rows of length %.0f-%.0f: %s", fact.low, fact.high, because);
        return true;
    }
    return false;
}
