/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "ridge/family.h"

typedef struct text_row {
    const char *name; /* the text */
    const char *back; /* as written again; NULL: the same */
} text_row;

static text_row texts[] = {
    {"", NULL},
    {"m=3,n=769,dtype=f16,layout=pad8,values=int,in_place=1,seed=7", NULL},
    {"seed=7,n=1,dtype=bf16,m=9223372036854775807", "n=1,m=9223372036854775807,seed=7"},
    {"layout=contiguous,values=normal,seed=1,in_place=0", ""},
    {"m=1,m=2", "m=2"},
    {"dtype=torch.float32", "dtype=f32"},
    {"seed=18446744073709551615", NULL},
    {"m=0", NULL},
};

static void reads_and_writes(void **state)
{
    const text_row *const row = *state;
    char text[RIDGE_CASE_TEXT];
    ridge_case at;
    ridge_error err;

    ridge_case_init(&at);
    assert_int_equal(ridge_case_parse(row->name, &at, &err), RIDGE_OK);
    assert_string_equal(ridge_case_text(&at, text, sizeof(text)),
                        row->back != NULL ? row->back : row->name);
}

typedef struct refusal_row {
    const char *name; /* the text */
    const char *message;
} refusal_row;

static refusal_row refusals[] = {
    {"k=3", "no axis k; there are m n, dtype layout values in_place seed"},
    {"m", "case \"m\": expected name=value, as in m=3,dtype=f16"},
    {"=3", "no axis ; there are m n, dtype layout values in_place seed"},
    {"m=", "m=: expected a whole number that is not negative"},
    {"m=-1", "m=-1: expected a whole number that is not negative"},
    {"m=1x", "m=1x: expected a whole number that is not negative"},
    {"m=9223372036854775808", "m=9223372036854775808 is above 9223372036854775807"},
    {"seed=18446744073709551616", "seed=18446744073709551616 is above 18446744073709551615"},
    {"in_place=2", "in_place=2 is above 1"},
    {"m=1,", "case \"m=1,\": nothing behind the last comma"},
    {"m=1,,n=2", "case \"\": expected name=value, as in m=3,dtype=f16"},
    {"dtype=f8", "dtype=f8 is none of f64 f32 f16 bf16 e4m3 e5m2 i64 i32 u32 i16 i8 u8"},
    {"layout=odd", "layout=odd is none of contiguous pad8 transposed sliced offset1 broadcast "
                   "reversed"},
    {"values=odd", "values=odd is none of normal int unit index onehot odd12 positive outlier "
                   "subnormal nonfinite constant sorted zero one"},
    {"a_name_that_is_longer_than_any_axis=1",
     "case \"a_name_that_is_longer_than_any_axis=1\": expected name=value, as in m=3,dtype=f16"},
};

static void refuses(void **state)
{
    const refusal_row *const row = *state;
    char text[RIDGE_CASE_TEXT];
    ridge_case at;
    ridge_error err;

    ridge_case_init(&at);
    assert_int_equal(ridge_case_set(&at, "m", 5, NULL), RIDGE_OK);
    assert_int_equal(ridge_case_set(&at, "n", 6, NULL), RIDGE_OK);
    assert_int_equal(ridge_case_parse(row->name, &at, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_string_equal(err.text, row->message);
    assert_string_equal(ridge_case_text(&at, text, sizeof(text)), "m=5,n=6");
}

static void sets_axes(void **state)
{
    static const char *const BAD[] = {"", "1m", "a b", "seed", "twenty_four_letters_long"};
    ridge_case at;
    char name[8];
    int i;

    (void)state;
    ridge_case_init(&at);
    for (i = 0; i < (int)(sizeof(BAD) / sizeof(BAD[0])); i++)
        assert_int_equal(ridge_case_set(&at, BAD[i], 1, NULL), RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(ridge_case_set(&at, "m", -1, NULL), RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(at.axis_count, 0);
    for (i = 0; i < RIDGE_CASE_AXES; i++) {
        snprintf(name, sizeof(name), "a%d", i);
        assert_int_equal(ridge_case_set(&at, name, i, NULL), RIDGE_OK);
    }
    assert_int_equal(ridge_case_set(&at, "a3", 33, NULL), RIDGE_OK);
    assert_int_equal(ridge_case_set(&at, "b", 1, NULL), RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(ridge_case_axis(&at, "a3", -1), 33);
    assert_int_equal(ridge_case_axis(&at, "a", -1), -1);
    assert_int_equal(ridge_case_axis(&at, "a111", -1), -1);
}

/* The longest there is fits RIDGE_CASE_TEXT. */
static void longest_text(void **state)
{
    char text[RIDGE_CASE_TEXT], again[RIDGE_CASE_TEXT], name[24];
    ridge_case at, back;
    int i;

    (void)state;
    ridge_case_init(&at);
    for (i = 0; i < RIDGE_CASE_AXES; i++) {
        snprintf(name, sizeof(name), "axis_of_twenty_three_%02d", i);
        assert_int_equal(ridge_case_set(&at, name, INT64_MAX, NULL), RIDGE_OK);
    }
    at.dtype = RIDGE_DTYPE_E4M3;
    at.layout = RIDGE_LAYOUT_TRANSPOSED;
    at.values = RIDGE_VALUES_SUBNORMAL;
    at.in_place = true;
    at.seed = UINT64_MAX;
    ridge_case_text(&at, text, sizeof(text));
    assert_in_range(strlen(text), 600, sizeof(text) - 1);
    ridge_case_init(&back);
    assert_int_equal(ridge_case_parse(text, &back, NULL), RIDGE_OK);
    assert_string_equal(ridge_case_text(&back, again, sizeof(again)), text);
    assert_string_equal(ridge_case_text(&at, name, 5), "axis");
}

static void names(void **state)
{
    ridge_values values;
    ridge_layout layout;
    int i;

    (void)state;
    for (i = 0; i < RIDGE_VALUES_COUNT; i++) {
        assert_true(ridge_values_find(ridge_values_name((ridge_values)i), &values));
        assert_int_equal(values, i);
    }
    for (i = 0; i < RIDGE_LAYOUT_COUNT; i++) {
        assert_true(ridge_layout_find(ridge_layout_name((ridge_layout)i), &layout));
        assert_int_equal(layout, i);
    }
    assert_string_equal(ridge_values_name(RIDGE_VALUES_COUNT), "unknown");
    assert_string_equal(ridge_layout_name(RIDGE_LAYOUT_COUNT), "unknown");
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, reads_and_writes, texts);
    CASES_ADD_ROWS(&list, refuses, refusals);
    cases_add(&list, "sets axes", sets_axes, NULL);
    cases_add(&list, "longest text", longest_text, NULL);
    cases_add(&list, "names", names, NULL);
    return cases_run(&list, "case");
}
