/* SPDX-License-Identifier: Apache-2.0
 *
 * The default cases of a kernel: every pair of levels of two factors occurs in some case. Factors
 * are the axes, the type, the layout, in place or not, and the values; their full product would be
 * millions, pairs take about the product of the two longest lists.
 *
 * Greedy, as AETG (Cohen and others, 1997): a case starts from an uncovered pair, and the other
 * factors, in random order, take the level that covers most. The product of the extents is limited,
 * so that a reference in double takes well under a second; pairs that exceed it by themselves are
 * left out. Same seed, same cases. */
#include <string.h>

#include "base/memory.h"
#include "ridge/check.h"

enum {
    FACTORS_MOST = RIDGE_CASE_AXES + 4,
    LEVELS_MOST = 24,
    CASES_MOST = 2048,
};

#define PRODUCT_MOST ((int64_t)1 << 18)
#define PRODUCT_MOST_FULL ((int64_t)1 << 24)

typedef struct factor {
    int64_t levels[LEVELS_MOST];
    int count;
} factor;

typedef struct cover {
    factor factors[FACTORS_MOST];
    int axis_count, count; /* axes come first */
    int64_t product_most;
    uint64_t random;
    /* [a][la][b]: bit lb set: the pair is covered, or cannot be. */
    uint32_t done[FACTORS_MOST][LEVELS_MOST][FACTORS_MOST];
} cover;

static uint64_t next_random(cover *self)
{
    uint64_t value = self->random += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

static void add_level(factor *to, int64_t value)
{
    for (int i = 0; i < to->count; i++)
        if (to->levels[i] == value)
            return;
    if (value >= 0 && to->count < LEVELS_MOST)
        to->levels[to->count++] = value;
}

static void add_extents(cover *self, factor *to, int64_t base, int64_t tile, bool full)
{
    static const int64_t always[] = {0, 1, 769, 5125, 1024, 65536};
    static const int64_t more[] = {2, 3, 7, 31, 33, 255, 257, 4096};

    add_level(to, base);
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        add_level(to, always[i]);
    if (tile > 1) {
        add_level(to, tile - 1);
        add_level(to, tile);
        add_level(to, tile + 1);
        add_level(to, 2 * tile + 3);
    }
    add_level(to, 2 + (int64_t)(next_random(self) % (uint64_t)(tile > 1 ? 4 * tile : 1000)));
    for (size_t i = 0; full && i < sizeof(more) / sizeof(more[0]); i++)
        add_level(to, more[i]);
}

static void set_factors(cover *self, const ridge_case *base, const ridge_dtype *dtypes,
                        size_t dtype_count, int64_t tile, bool full)
{
    static const ridge_values values[] = {RIDGE_VALUES_NORMAL,    RIDGE_VALUES_SMALL_INT,
                                          RIDGE_VALUES_OUTLIER,   RIDGE_VALUES_ONE_SIGN,
                                          RIDGE_VALUES_SUBNORMAL, RIDGE_VALUES_NONFINITE,
                                          RIDGE_VALUES_CONSTANT,  RIDGE_VALUES_SORTED};
    factor *to = self->factors;

    for (size_t i = 0; i < base->axis_count; i++)
        add_extents(self, to++, base->axes[i].value, tile, full);
    self->axis_count = (int)base->axis_count;
    add_level(to, base->dtype);
    for (size_t i = 0; i < dtype_count; i++)
        add_level(to, dtypes[i]);
    to++;
    add_level(to, base->layout);
    for (int i = 0; i < RIDGE_LAYOUT_COUNT; i++)
        add_level(to, i);
    to++;
    add_level(to, base->values);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        add_level(to, values[i]);
    to++;
    add_level(to, base->in_place);
    add_level(to, !base->in_place);
    self->count = (int)(to + 1 - self->factors);
    self->product_most = full ? PRODUCT_MOST_FULL : PRODUCT_MOST;
}

/* The extents chosen so far, those open counted as one. */
static bool fits(const cover *self, const int *levels, int number, int level)
{
    int64_t product = 1;

    for (int i = 0; i < self->axis_count; i++) {
        const int at = i == number ? level : levels[i];
        const int64_t extent = at < 0 ? 1 : self->factors[i].levels[at];

        if (extent > 1 && product > self->product_most / extent)
            return false;
        product *= extent > 1 ? extent : 1;
    }
    return true;
}

static bool is_done(const cover *self, int a, int la, int b, int lb)
{
    return (self->done[a][la][b] >> lb) & 1;
}

static void set_done(cover *self, int a, int la, int b, int lb)
{
    self->done[a][la][b] |= UINT32_C(1) << lb;
    self->done[b][lb][a] |= UINT32_C(1) << la;
}

/* A random place to start, so that cases do not come in the order of the lists. */
static bool uncovered_pair(cover *self, int *a, int *la, int *b, int *lb)
{
    const int start = (int)(next_random(self) % (uint64_t)self->count);

    for (int i = 0; i < self->count; i++)
        for (int k = 0; k < self->count; k++) {
            *a = (start + i) % self->count;
            *b = k;
            if (*a == *b)
                continue;
            for (*la = 0; *la < self->factors[*a].count; (*la)++)
                for (*lb = 0; *lb < self->factors[*b].count; (*lb)++)
                    if (!is_done(self, *a, *la, *b, *lb))
                        return true;
        }
    return false;
}

static int best_level(cover *self, const int *levels, int number)
{
    const factor *const of = &self->factors[number];
    const int start = (int)(next_random(self) % (uint64_t)of->count);
    int best = -1, best_gain = -1;

    for (int i = 0; i < of->count; i++) {
        const int level = (start + i) % of->count;
        int gain = 0;

        if (number < self->axis_count && !fits(self, levels, number, level))
            continue;
        for (int other = 0; other < self->count; other++)
            if (other != number && levels[other] >= 0)
                gain += !is_done(self, number, level, other, levels[other]);
        if (gain > best_gain) {
            best_gain = gain;
            best = level;
        }
    }
    return best;
}

/* The least extent, where none fits: 1 is always a level. */
static int level_of_one(const factor *of)
{
    for (int i = 0; i < of->count; i++)
        if (of->levels[i] == 1)
            return i;
    return 0;
}

static void fill_case(cover *self, int *levels)
{
    int order[FACTORS_MOST];

    for (int i = 0; i < self->count; i++)
        order[i] = i;
    for (int i = self->count - 1; i > 0; i--) {
        const int other = (int)(next_random(self) % (uint64_t)(i + 1));
        const int kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < self->count; i++) {
        const int number = order[i];

        if (levels[number] >= 0)
            continue;
        levels[number] = best_level(self, levels, number);
        if (levels[number] < 0)
            levels[number] = level_of_one(&self->factors[number]);
    }
}

static void note(cover *self, const int *levels)
{
    for (int a = 0; a < self->count; a++)
        for (int b = a + 1; b < self->count; b++)
            set_done(self, a, levels[a], b, levels[b]);
}

static void write_case(const cover *self, const int *levels, const ridge_case *base,
                       ridge_case *out)
{
    const int axes = self->axis_count;

    *out = *base;
    for (int i = 0; i < axes; i++)
        out->axes[i].value = self->factors[i].levels[levels[i]];
    out->dtype = (ridge_dtype)self->factors[axes].levels[levels[axes]];
    out->layout = (ridge_layout)self->factors[axes + 1].levels[levels[axes + 1]];
    out->values = (ridge_values)self->factors[axes + 2].levels[levels[axes + 2]];
    out->in_place = self->factors[axes + 3].levels[levels[axes + 3]] != 0;
}

ridge_status ridge_check_matrix(const ridge_case *base, const ridge_dtype *dtypes,
                                size_t dtype_count, int64_t tile, bool full, uint64_t seed,
                                ridge_case **out, size_t *count, ridge_error *err)
{
    cover *self = NULL;
    ridge_case *cases = NULL, *fewer;
    int levels[FACTORS_MOST] = {0};
    int a, la, b, lb;
    size_t made = 0;

    *out = NULL;
    *count = 0;
    if (base->axis_count > RIDGE_CASE_AXES || tile < 0 || tile > INT32_MAX)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "a case of %zu axes and tile %lld",
                          base->axis_count, (long long)tile);
    self = ridge_calloc(1, sizeof(*self));
    cases = ridge_calloc(CASES_MOST, sizeof(*cases));
    if (self == NULL || cases == NULL) {
        ridge_free(cases);
        ridge_free(self);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for a matrix of cases");
    }
    self->random = seed;
    set_factors(self, base, dtypes, dtype_count, tile, full);
    /* The base case is the first level of each list, whatever its size. */
    write_case(self, levels, base, &cases[made++]);
    note(self, levels);
    while (made < CASES_MOST && uncovered_pair(self, &a, &la, &b, &lb)) {
        for (int i = 0; i < self->count; i++)
            levels[i] = -1;
        levels[a] = la;
        levels[b] = lb;
        set_done(self, a, la, b, lb);
        if (!fits(self, levels, a, la))
            continue;
        fill_case(self, levels);
        note(self, levels);
        write_case(self, levels, base, &cases[made++]);
    }
    ridge_free(self);
    fewer = ridge_realloc_array(cases, made, sizeof(*cases));
    *out = fewer == NULL ? cases : fewer;
    *count = made;
    return RIDGE_OK;
}

void ridge_cases_free(ridge_case *cases)
{
    ridge_free(cases);
}
