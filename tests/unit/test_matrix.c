/* SPDX-License-Identifier: Apache-2.0
 *
 * Every pair of levels occurs in the default cases; a failing case becomes a small one. */
#include "cases.h"

#include "base/memory.h"
#include "ridge/check.h"

static const ridge_dtype dtypes[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_F16, RIDGE_DTYPE_F32};

static ridge_case base_case(size_t axes)
{
    static const char *const names[] = {"m", "n", "k"};
    ridge_case base;

    ridge_case_init(&base);
    for (size_t i = 0; i < axes; i++)
        assert_int_equal(ridge_case_set(&base, names[i], 64 + (int64_t)i, NULL), RIDGE_OK);
    return base;
}

/* Axes first, then type, layout, values, in place. */
static int64_t level(const ridge_case *of, size_t factor)
{
    if (factor < of->axis_count)
        return of->axes[factor].value;
    switch (factor - of->axis_count) {
    case 0:
        return of->dtype;
    case 1:
        return of->layout;
    case 2:
        return of->values;
    default:
        return of->in_place;
    }
}

static bool has_pair(const ridge_case *list, size_t count, size_t a, int64_t la, size_t b,
                     int64_t lb)
{
    for (size_t i = 0; i < count; i++)
        if (level(&list[i], a) == la && level(&list[i], b) == lb)
            return true;
    return false;
}

static struct matrix_case {
    const char *name;
    size_t axes;
    int64_t tile;
    bool full;
    size_t most;
} matrix_cases[] = {
    {"one axis", 1, 128, false, 130},  {"two axes", 2, 128, false, 200},
    {"three axes", 3, 64, false, 250}, {"no tile", 2, 0, false, 160},
    {"full", 2, 128, true, 600},
};

static void covers_pairs(void **state)
{
    const struct matrix_case *const row = *state;
    const ridge_case base = base_case(row->axes);
    const size_t factors = row->axes + 4;
    const int64_t most = row->full ? INT64_C(1) << 24 : INT64_C(1) << 18;
    ridge_case *made, *again;
    size_t count, again_count;
    ridge_error err;

    assert_int_equal(
        ridge_check_matrix(&base, dtypes, 3, row->tile, row->full, 5, &made, &count, &err),
        RIDGE_OK);
    if (count > row->most)
        fail_msg("%zu cases", count);
    assert_memory_equal(&made[0], &base, sizeof(base));
    for (size_t a = 0; a < factors; a++)
        for (size_t b = a + 1; b < factors; b++)
            for (size_t i = 0; i < count; i++)
                for (size_t k = 0; k < count; k++) {
                    const int64_t la = level(&made[i], a), lb = level(&made[k], b);

                    if (b < row->axes && la > 0 && lb > 0 && la > most / lb)
                        continue;
                    if (!has_pair(made, count, a, la, b, lb))
                        fail_msg("factor %zu = %lld with factor %zu = %lld", a, (long long)la, b,
                                 (long long)lb);
                }
    assert_true(has_pair(made, count, 0, 0, row->axes, RIDGE_DTYPE_F32));
    assert_true(has_pair(made, count, 0, 5125, row->axes + 1, RIDGE_LAYOUT_OFFSET));
    for (size_t i = 1; i < count; i++) {
        int64_t product = 1;

        for (size_t axis = 0; axis < row->axes; axis++)
            product *= made[i].axes[axis].value;
        assert_true(product <= most);
    }
    assert_int_equal(
        ridge_check_matrix(&base, dtypes, 3, row->tile, row->full, 5, &again, &again_count, &err),
        RIDGE_OK);
    assert_int_equal(again_count, count);
    assert_memory_equal(again, made, count * sizeof(*made));
    ridge_cases_free(again);
    assert_int_equal(
        ridge_check_matrix(&base, dtypes, 3, row->tile, row->full, 6, &again, &again_count, &err),
        RIDGE_OK);
    assert_true(again_count != count || memcmp(again, made, count * sizeof(*made)) != 0);
    ridge_cases_free(again);
    ridge_cases_free(made);
}

static void survives_no_memory(void **state)
{
    const ridge_case base = base_case(2);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_case *made;
    size_t count;

    (void)state;
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_check_matrix(&base, dtypes, 3, 64, false, 1, &made, &count, NULL);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(made);
            assert_int_equal(count, 0);
        }
    }
    ridge_cases_free(made);
}

typedef struct failing {
    bool (*fails)(const ridge_case *at);
    int calls;
} failing;

static bool still_fails(void *context, const ridge_case *at)
{
    failing *const self = context;

    self->calls++;
    return self->fails(at);
}

static bool beyond_a_tile(const ridge_case *at)
{
    return ridge_case_axis(at, "m", 0) > 64;
}

static bool padded_only(const ridge_case *at)
{
    return at->layout == RIDGE_LAYOUT_PADDED && ridge_case_axis(at, "n", 0) >= 3;
}

static bool always(const ridge_case *at)
{
    (void)at;
    return true;
}

static bool never(const ridge_case *at)
{
    (void)at;
    return false;
}

static struct shrink_case {
    const char *name;
    bool (*fails)(const ridge_case *at);
    const char *least;
} shrink_cases[] = {
    {"one more than a tile", beyond_a_tile, "m=65,n=1,k=1,dtype=bf16"},
    {"a layout", padded_only, "m=1,n=3,k=1,dtype=bf16,layout=pad8"},
    {"anything", always, "m=1,n=1,k=1,dtype=bf16"},
    {"nothing less", never, "m=5125,n=769,k=4096,dtype=bf16,layout=pad8,values=outlier,inplace"},
};

static void shrinks(void **state)
{
    const struct shrink_case *const row = *state;
    failing context = {row->fails, 0};
    ridge_case at = base_case(3), least;
    char text[320], wanted[320];

    at.axes[0].value = 5125;
    at.axes[1].value = 769;
    at.axes[2].value = 4096;
    at.layout = RIDGE_LAYOUT_PADDED;
    at.values = RIDGE_VALUES_OUTLIER;
    at.in_place = true;
    least = at;
    ridge_case_shrink(&at, still_fails, &context);
    assert_true(context.calls <= 64);
    if (row->fails == never) {
        assert_memory_equal(&at, &least, sizeof(at));
        return;
    }
    assert_int_equal(ridge_case_parse(row->least, &least, NULL), RIDGE_OK);
    least.values = RIDGE_VALUES_NORMAL;
    least.in_place = false;
    if (strstr(row->least, "layout") == NULL)
        least.layout = RIDGE_LAYOUT_CONTIGUOUS;
    assert_string_equal(ridge_case_text(&at, text, sizeof(text)),
                        ridge_case_text(&least, wanted, sizeof(wanted)));
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, covers_pairs, matrix_cases);
    cases_add(&list, "out of memory", survives_no_memory, NULL);
    CASES_ADD_ROWS(&list, shrinks, shrink_cases);
    return cases_run(&list, "matrix");
}
