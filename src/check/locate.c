/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the failing elements are. Two passes over the bitmap: the box and the counts along each axis
 * first, then the picture and the samples. Time grows with the elements, memory does not: an axis
 * has at most 65,536 counters.
 *
 * Periods: for each axis and modulus a chi-square of failures by residue against the elements of
 * that residue, divided by the failures of a failing index, since elements of one index fail
 * together; beyond chance at 1e-3 over the number of tested moduli (Wilson and Hilferty's cube
 * root). Of the significant ones whose residues are one block that holds nearly all failures the
 * greatest lift is reported. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "check/check_internal.h"

/* -- coordinates ------------------------------------------------------------------------------- */

int64_t check_real_index(const ridge_comparand *pair, int axis, int64_t index)
{
    return pair->rows != NULL && axis == pair->rows_axis ? pair->rows[index] : index;
}

int64_t check_real_extent(const ridge_comparand *pair, int axis)
{
    return pair->rows != NULL && axis == pair->rows_axis ? pair->rows_extent : pair->shape[axis];
}

void check_coordinates(const ridge_comparand *pair, int64_t index, int64_t out[RIDGE_BUFFER_DIMS])
{
    for (int axis = pair->ndim - 1; axis >= 0; axis--) {
        out[axis] = index % pair->shape[axis];
        index /= pair->shape[axis];
    }
}

int64_t check_real_linear(const ridge_comparand *pair, int64_t index)
{
    int64_t at[RIDGE_BUFFER_DIMS];
    int64_t linear = 0;

    if (pair->rows == NULL)
        return index;
    check_coordinates(pair, index, at);
    for (int axis = 0; axis < pair->ndim; axis++)
        linear = linear * check_real_extent(pair, axis) + check_real_index(pair, axis, at[axis]);
    return linear;
}

/* -- counting ---------------------------------------------------------------------------------- */

static ridge_status axes_create(check_facts *facts, ridge_error *err)
{
    for (int i = 0; i < facts->pair->ndim; i++) {
        check_axis *const axis = &facts->axes[i];
        size_t count;

        axis->extent = facts->pair->shape[i];
        axis->bucket = (axis->extent - 1) / CHECK_BUCKETS + 1;
        axis->bucket_count = (axis->extent - 1) / axis->bucket + 1;
        axis->first_index = axis->last_index = -1;
        count = (size_t)axis->bucket_count;
        axis->count = ridge_calloc(count, sizeof(int64_t));
        axis->first = ridge_calloc(count, sizeof(int64_t));
        axis->last = ridge_calloc(count, sizeof(int64_t));
        if (axis->bucket > 1)
            axis->fold = ridge_calloc(CHECK_BUCKETS, sizeof(int64_t));
        if (axis->count == NULL || axis->first == NULL || axis->last == NULL ||
            (axis->bucket > 1 && axis->fold == NULL))
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory to locate wrong elements");
        for (size_t k = 0; k < count; k++) {
            axis->first[k] = INT64_MAX;
            axis->last[k] = -1;
        }
    }
    return RIDGE_OK;
}

void check_facts_release(check_facts *facts)
{
    for (int i = 0; i < RIDGE_BUFFER_DIMS; i++) {
        ridge_free(facts->axes[i].count);
        ridge_free(facts->axes[i].first);
        ridge_free(facts->axes[i].last);
        ridge_free(facts->axes[i].fold);
    }
    ridge_free(facts->samples);
}

static inline void axis_add(check_axis *axis, int64_t index, int64_t failures)
{
    const int64_t bucket = axis->bucket == 1 ? index : index / axis->bucket;

    axis->count[bucket] += failures;
    if (index < axis->first[bucket])
        axis->first[bucket] = index;
    if (index > axis->last[bucket])
        axis->last[bucket] = index;
    if (axis->fold != NULL)
        axis->fold[index % CHECK_BUCKETS] += failures;
}

static int lowest_bit(uint64_t word)
{
    return __builtin_ctzll(word);
}

/* The next failing element at or behind index, or end. */
static inline int64_t next_failing(const uint64_t *failing, int64_t index, int64_t end)
{
    while (index < end) {
        const uint64_t word = failing[index / 64] >> (index % 64);

        if (word != 0) {
            index += lowest_bit(word);
            return index < end ? index : end;
        }
        index = (index / 64 + 1) * 64;
    }
    return end;
}

/* Calls visit for each failing element, with its coordinates; end_row behind each row of the last
 * axis that has some. */
typedef struct walk {
    void (*visit)(struct walk *self, int64_t index, const int64_t *at);
    void (*end_row)(struct walk *self, const int64_t *at, int64_t failures);
    check_facts *facts;
    int64_t cells[RIDGE_MISMATCH_PICTURE][RIDGE_MISMATCH_PICTURE];
    int64_t seen, stride;
} walk;

static void each_failing(walk *visitor)
{
    const check_facts *const facts = visitor->facts;
    const int last = facts->pair->ndim - 1;
    const int64_t count = facts->out->element_count;
    const int64_t width = last < 0 ? 1 : facts->pair->shape[last];
    int64_t at[RIDGE_BUFFER_DIMS] = {0};
    int64_t index = next_failing(facts->failing, 0, count);

    while (index < count) {
        const int64_t row = index / width * width;
        int64_t failures = 0;

        check_coordinates(facts->pair, row, at);
        while (index < row + width) {
            if (last >= 0)
                at[last] = index - row;
            visitor->visit(visitor, index, at);
            failures++;
            index = next_failing(facts->failing, index + 1, row + width);
        }
        if (visitor->end_row != NULL)
            visitor->end_row(visitor, at, failures);
        index = next_failing(facts->failing, row + width, count);
    }
}

static void count_element(walk *visitor, int64_t index, const int64_t *at)
{
    const int last = visitor->facts->pair->ndim - 1;

    (void)index;
    if (last >= 0)
        axis_add(&visitor->facts->axes[last], at[last], 1);
}

static void count_row(walk *visitor, const int64_t *at, int64_t failures)
{
    check_facts *const facts = visitor->facts;
    const int last = facts->pair->ndim - 1;

    for (int axis = 0; axis < last; axis++)
        axis_add(&facts->axes[axis], at[axis], failures);
    facts->rows_touched++;
    facts->rows_full += failures == (last < 0 ? 1 : facts->pair->shape[last]);
}

/* -- regions ----------------------------------------------------------------------------------- */

static void add_region(check_facts *facts, int axis, int64_t first, int64_t last, int64_t failures)
{
    ridge_mismatch *const out = facts->out;
    const int64_t extent = facts->axes[axis].extent;
    const double each = (double)out->element_count / (double)extent;

    if (out->region_count == RIDGE_MISMATCH_REGIONS)
        return;
    out->regions[out->region_count++] = (ridge_mismatch_region){
        .axis = axis,
        .first = check_real_index(facts->pair, axis, first),
        .last = check_real_index(facts->pair, axis, last),
        .share_frac = (double)failures / (each * (double)(last - first + 1))};
}

/* Runs of neighbouring failing indices; whole ones and partly failing ones apart. */
static void axis_runs(check_facts *facts, int number, bool is_listed)
{
    check_axis *const axis = &facts->axes[number];
    const double each = (double)facts->out->element_count / (double)axis->extent;
    int64_t first = -1, last = -1, failures = 0;
    bool was_whole = false;

    axis->run_count = 0;
    for (int64_t k = 0; k < axis->bucket_count; k++) {
        bool is_whole;

        if (axis->count[k] == 0)
            continue;
        is_whole =
            (double)axis->count[k] >= 0.999 * each * (double)(axis->last[k] - axis->first[k] + 1);
        if (last >= 0 && (axis->first[k] != last + 1 || is_whole != was_whole)) {
            if (is_listed)
                add_region(facts, number, first, last, failures);
            first = -1;
        }
        if (first < 0) {
            axis->run_count++;
            first = axis->first[k];
            failures = 0;
        }
        failures += axis->count[k];
        last = axis->last[k];
        was_whole = is_whole;
    }
    if (is_listed && first >= 0)
        add_region(facts, number, first, last, failures);
}

static void summarise(check_facts *facts)
{
    const ridge_comparand *const pair = facts->pair;
    ridge_mismatch *const out = facts->out;
    double box = 1;

    for (int i = 0; i < pair->ndim; i++) {
        check_axis *const axis = &facts->axes[i];

        for (int64_t k = 0; k < axis->bucket_count; k++) {
            if (axis->count[k] == 0)
                continue;
            axis->failing_count++;
            if (axis->first_index < 0)
                axis->first_index = axis->first[k];
            axis->last_index = axis->last[k];
        }
        out->box_first[i] = check_real_index(pair, i, axis->first_index);
        out->box_last[i] = check_real_index(pair, i, axis->last_index);
        axis->run_share = (double)facts->wrong_count /
                          ((double)out->element_count / (double)axis->extent) /
                          (double)(axis->last_index - axis->first_index + 1);
        box *= (double)(axis->last_index - axis->first_index + 1);
    }
    facts->box_share = (double)facts->wrong_count / box;
    facts->row_count = pair->ndim == 0 ? 1 : out->element_count / pair->shape[pair->ndim - 1];
    for (int i = 0; i < pair->ndim; i++) {
        axis_runs(facts, i, false);
        if (facts->axes[i].extent == 1)
            continue;
        if (facts->axes[i].run_count <= RIDGE_MISMATCH_REGIONS / pair->ndim)
            axis_runs(facts, i, true);
        else
            add_region(facts, i, facts->axes[i].first_index, facts->axes[i].last_index,
                       facts->wrong_count);
    }
}

/* -- periods ----------------------------------------------------------------------------------- */

enum { MODULUS_MOST = 4096, MODULI_MOST = 32 };

/* Normal deviate of a chi-square, by the cube root of Wilson and Hilferty. */
static double chi_square_deviate(double chi_square, double freedom)
{
    const double spread = 2 / (9 * freedom);

    return (cbrt(chi_square / freedom) - (1 - spread)) / sqrt(spread);
}

typedef struct residues {
    double failures[MODULUS_MOST], elements[MODULUS_MOST];
} residues;

static void count_residues(const check_facts *facts, int number, int64_t modulus, residues *out)
{
    const check_axis *const axis = &facts->axes[number];
    const double each = (double)facts->out->element_count / (double)axis->extent;

    memset(out->failures, 0, (size_t)modulus * sizeof(double));
    memset(out->elements, 0, (size_t)modulus * sizeof(double));
    if (axis->bucket > 1) {
        for (int64_t i = 0; i < CHECK_BUCKETS; i++)
            out->failures[i % modulus] += (double)axis->fold[i];
        for (int64_t r = 0; r < modulus; r++) {
            const int64_t indices = (axis->extent - r - 1) / modulus + 1;

            out->elements[r] = each * (double)indices;
        }
        return;
    }
    for (int64_t i = 0; i < axis->extent; i++) {
        const int64_t residue = check_real_index(facts->pair, number, i) % modulus;

        out->failures[residue] += (double)axis->count[i];
        out->elements[residue] += each;
    }
}

/* The one block of residues with a high rate, if that holds nearly all failures. */
static bool find_block(const residues *of, int64_t modulus, int64_t *first, int64_t *last,
                       double *share, double *lift)
{
    double most = 0, all = 0, elements = 0, inside = 0, block = 0;

    *first = *last = -1;
    for (int64_t r = 0; r < modulus; r++) {
        all += of->failures[r];
        elements += of->elements[r];
        if (of->elements[r] > 0)
            most = fmax(most, of->failures[r] / of->elements[r]);
    }
    for (int64_t r = 0; r < modulus; r++) {
        if (of->elements[r] == 0 || of->failures[r] / of->elements[r] <= most / 2)
            continue;
        if (*last >= 0 && r != *last + 1)
            return false;
        if (*first < 0)
            *first = r;
        *last = r;
        inside += of->failures[r];
        block += of->elements[r];
    }
    *share = inside / all;
    *lift = block > 0 ? *share / (block / elements) : 0;
    return *share >= 0.8 && *lift >= 1.3;
}

static size_t moduli_of(const check_facts *facts, int number, int64_t *out)
{
    const check_axis *const axis = &facts->axes[number];
    const int64_t tile = facts->pair->tile[number];
    size_t count = 0;

    for (int64_t m = 2; m <= 256; m *= 2)
        out[count++] = m;
    for (int64_t k = 1; k <= 8 && tile > 1 && axis->bucket == 1; k++)
        if (tile * k <= MODULUS_MOST && (tile * k > 256 || (tile * k & (tile * k - 1)) != 0))
            out[count++] = tile * k;
    return count;
}

static ridge_status find_period(check_facts *facts, ridge_error *err)
{
    residues *const counts = ridge_calloc(1, sizeof(*counts));
    ridge_mismatch_period *const best = &facts->out->period;
    int64_t moduli[RIDGE_BUFFER_DIMS][MODULI_MOST];
    size_t counted[RIDGE_BUFFER_DIMS], tested = 0;

    if (counts == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory to look for periods");
    for (int i = 0; i < facts->pair->ndim; i++)
        tested += counted[i] = moduli_of(facts, i, moduli[i]);
    for (int i = 0; i < facts->pair->ndim; i++) {
        const check_axis *const axis = &facts->axes[i];
        const double overall = (double)facts->wrong_count / (double)facts->out->element_count;
        const double together = fmax(1, (double)facts->wrong_count / (double)axis->failing_count);

        for (size_t k = 0; k < counted[i]; k++) {
            const int64_t m = moduli[i][k];
            double chi_square = 0, share, lift;
            int64_t first, last;

            if (facts->out->box_last[i] - facts->out->box_first[i] < 2 * m ||
                axis->failing_count < 4)
                continue;
            count_residues(facts, i, m, counts);
            for (int64_t r = 0; r < m; r++) {
                const double wanted = counts->elements[r] * overall;

                if (wanted > 0)
                    chi_square +=
                        (counts->failures[r] - wanted) * (counts->failures[r] - wanted) / wanted;
            }
            if (erfc(chi_square_deviate(chi_square / together, (double)m - 1) / sqrt(2)) / 2 *
                        (double)tested >
                    1e-3 ||
                !find_block(counts, m, &first, &last, &share, &lift))
                continue;
            if (best->axis < 0 || lift > best->lift * 1.05)
                *best = (ridge_mismatch_period){i, m, first, last, share, lift};
        }
    }
    ridge_free(counts);
    return RIDGE_OK;
}

/* -- picture and samples ----------------------------------------------------------------------- */

static void choose_picture(ridge_mismatch *out, const ridge_comparand *pair)
{
    int large[2] = {-1, -1};

    for (int axis = 0; axis < pair->ndim; axis++) {
        if (pair->shape[axis] <= 1)
            continue;
        if (large[0] < 0 || pair->shape[axis] > pair->shape[large[0]]) {
            large[1] = large[0];
            large[0] = axis;
        } else if (large[1] < 0 || pair->shape[axis] > pair->shape[large[1]]) {
            large[1] = axis;
        }
    }
    /* Rows of the picture are the axis further out; a single axis runs along a line. */
    out->picture_axis[0] = large[1] < 0 ? -1 : large[0] < large[1] ? large[0] : large[1];
    out->picture_axis[1] = large[1] < 0 ? large[0] : large[0] < large[1] ? large[1] : large[0];
    out->picture_rows = out->picture_axis[0] < 0 ? 1
                        : pair->shape[out->picture_axis[0]] < RIDGE_MISMATCH_PICTURE
                            ? (int)pair->shape[out->picture_axis[0]]
                            : RIDGE_MISMATCH_PICTURE;
    out->picture_columns = out->picture_axis[1] < 0 ? 1
                           : pair->shape[out->picture_axis[1]] < RIDGE_MISMATCH_PICTURE
                               ? (int)pair->shape[out->picture_axis[1]]
                               : RIDGE_MISMATCH_PICTURE;
}

/* The cell of an index, extents below 2^57. */
static int cell_of(int64_t index, int cells, int64_t extent)
{
    return (int)(index * cells / extent);
}

static void draw_element(walk *visitor, int64_t index, const int64_t *at)
{
    check_facts *const facts = visitor->facts;
    const ridge_mismatch *const out = facts->out;
    int cell[2] = {0, 0};

    for (int k = 0; k < 2; k++)
        if (out->picture_axis[k] >= 0)
            cell[k] =
                cell_of(at[out->picture_axis[k]], k == 0 ? out->picture_rows : out->picture_columns,
                        facts->pair->shape[out->picture_axis[k]]);
    visitor->cells[cell[0]][cell[1]]++;
    if (visitor->seen++ % visitor->stride == 0 && facts->sample_count < CHECK_SAMPLES)
        facts->samples[facts->sample_count++] = index;
}

/* Elements of a line of cells: how many indices map there. */
static int64_t cell_extent(int cell, int cells, int64_t extent)
{
    const int64_t first = (cell * extent + cells - 1) / cells;
    const int64_t next = ((cell + 1) * extent + cells - 1) / cells;

    return next - first;
}

static char shade(double share)
{
    static const struct {
        double below;
        char mark;
    } shades[] = {{1e-12, ' '}, {0.05, '.'}, {0.25, ':'}, {0.6, '+'}, {0.999, '*'}};

    for (size_t i = 0; i < sizeof(shades) / sizeof(shades[0]); i++)
        if (share < shades[i].below)
            return shades[i].mark;
    return '#';
}

static void paint(const check_facts *facts, const walk *visitor)
{
    const ridge_comparand *const pair = facts->pair;
    ridge_mismatch *const out = facts->out;
    const int64_t extent[2] = {out->picture_axis[0] < 0 ? 1 : pair->shape[out->picture_axis[0]],
                               out->picture_axis[1] < 0 ? 1 : pair->shape[out->picture_axis[1]]};
    const double depth = (double)out->element_count / (double)extent[0] / (double)extent[1];

    for (int r = 0; r < out->picture_rows; r++)
        for (int c = 0; c < out->picture_columns; c++) {
            const double elements = depth * (double)cell_extent(r, out->picture_rows, extent[0]) *
                                    (double)cell_extent(c, out->picture_columns, extent[1]);

            out->picture[r][c] = shade((double)visitor->cells[r][c] / elements);
        }
}

static ridge_status draw(check_facts *facts, ridge_error *err)
{
    walk *const second = ridge_calloc(1, sizeof(*second));

    facts->samples = ridge_calloc(CHECK_SAMPLES, sizeof(*facts->samples));
    if (second == NULL || facts->samples == NULL) {
        ridge_free(second);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory to draw wrong elements");
    }
    second->facts = facts;
    second->visit = draw_element;
    second->stride = (facts->wrong_count - 1) / CHECK_SAMPLES + 1;
    choose_picture(facts->out, facts->pair);
    each_failing(second);
    paint(facts, second);
    ridge_free(second);
    return RIDGE_OK;
}

ridge_status check_locate(check_facts *facts, ridge_error *err)
{
    walk *first;
    ridge_status status = axes_create(facts, err);

    if (status != RIDGE_OK)
        return status;
    first = ridge_calloc(1, sizeof(*first));
    if (first == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory to count wrong elements");
    first->facts = facts;
    first->visit = count_element;
    first->end_row = count_row;
    each_failing(first);
    ridge_free(first);
    summarise(facts);
    status = find_period(facts, err);
    return status == RIDGE_OK ? draw(facts, err) : status;
}
