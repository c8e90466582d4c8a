/* SPDX-License-Identifier: Apache-2.0
 *
 * Each known pattern of damage, done to a right output, is given its own cause. */
#include "check_arrays.h"

typedef void damage(arrays *a);

#define AT(a, i, j) ((i) * (a)->pair.shape[1] + (j))
#define EACH(a, i, j)                                                                              \
    for (int64_t i = 0; i < (a)->pair.shape[0]; i++)                                               \
        for (int64_t j = 0; j < (a)->pair.shape[1]; j++)

/* Something else of the same size. */
static void spoil(arrays *a, int64_t i)
{
    uint64_t state = (uint64_t)i * 977 + 5;

    draw(&state);
    a->out[i] = ridge_dtype_round(
        a->pair.dtype, a->ref[i] + (2 + fabs(draw(&state))) * (draw(&state) < 0 ? -1 : 1) *
                                       sqrt((double)a->pair.accumulate_length + 1));
}

static void last_rows(arrays *a)
{
    EACH(a, i, j)
    if (i >= a->pair.shape[0] - 4)
        spoil(a, AT(a, i, j));
}

static void last_rows_untiled(arrays *a)
{
    a->pair.tile[0] = 0;
    last_rows(a);
}

static void last_columns(arrays *a)
{
    EACH(a, i, j)
    if (j >= 128)
        spoil(a, AT(a, i, j));
}

static void last_column_zero(arrays *a)
{
    EACH(a, i, j)
    if (j == a->pair.shape[1] - 1)
        a->out[AT(a, i, j)] = 0;
}

static void lane_5_of_32(arrays *a)
{
    EACH(a, i, j)
    if (j % 32 == 5)
        spoil(a, AT(a, i, j));
}

static void upper_half_warp(arrays *a)
{
    EACH(a, i, j)
    if (j % 32 >= 16)
        spoil(a, AT(a, i, j));
}

static void fragment_mod_8(arrays *a)
{
    EACH(a, i, j)
    if (i % 8 == 3)
        spoil(a, AT(a, i, j));
}

static void vector_mod_4(arrays *a)
{
    EACH(a, i, j)
    if (j % 4 == 3 && i % 3 == 0)
        spoil(a, AT(a, i, j));
}

static void one_tile(arrays *a)
{
    EACH(a, i, j)
    if (i / 64 == 2 && j / 32 == 1)
        spoil(a, AT(a, i, j));
}

static void one_tile_untiled(arrays *a)
{
    one_tile(a);
    a->pair.tile[0] = a->pair.tile[1] = 0;
}

static void first_tile(arrays *a)
{
    EACH(a, i, j)
    if (i < 64)
        spoil(a, AT(a, i, j));
}

static void first_tile_corner(arrays *a)
{
    EACH(a, i, j)
    if (i < 64 && j < 32)
        spoil(a, AT(a, i, j));
}

static void every_fourth_stage(arrays *a)
{
    EACH(a, i, j)
    if (i / 16 % 4 == 3)
        spoil(a, AT(a, i, j));
}

static void every_third_tile(arrays *a)
{
    a->pair.tile[0] = 24;
    EACH(a, i, j)
    if (i / 24 % 3 == 1)
        spoil(a, AT(a, i, j));
}

static void scale_everything(arrays *a, double by)
{
    for (int64_t i = 0; i < a->count; i++)
        a->out[i] = ridge_dtype_round(a->pair.dtype, a->ref[i] * by);
}

static void twice(arrays *a)
{
    scale_everything(a, 2);
}

static void third(arrays *a)
{
    scale_everything(a, 1. / 3);
}

static void exp_base(arrays *a)
{
    scale_everything(a, 1.4426950408889634);
}

static void head_scale(arrays *a)
{
    scale_everything(a, 1 / sqrt(128));
}

static void mean_missing(arrays *a)
{
    scale_everything(a, 4096);
}

static void negated(arrays *a)
{
    scale_everything(a, -1);
}

static void bias(arrays *a)
{
    for (int64_t i = 0; i < a->count; i++)
        a->out[i] = ridge_dtype_round(a->pair.dtype, a->ref[i] + 96);
}

static void poison_tail(arrays *a)
{
    a->pair.poison = -30000;
    EACH(a, i, j)
    if (i >= 192)
        a->out[AT(a, i, j)] = -30000;
}

static void poison_all(arrays *a)
{
    a->pair.poison = NAN;
    for (int64_t i = 0; i < a->count; i++)
        a->out[i] = NAN;
}

static void too_large(arrays *a)
{
    for (int64_t i = 0; i < a->count; i++)
        a->out[i] =
            ridge_dtype_round(a->pair.dtype, a->ref[i] * (1 + 0.02 + 0.02 * (double)(i % 3)));
}

static void sum_in_bf16(arrays *a)
{
    uint64_t state = 3;

    /* Two parts in a thousand of sum |a||b|, either way. */
    for (int64_t i = 0; i < a->count; i++)
        a->out[i] = ridge_dtype_round(RIDGE_DTYPE_BF16, a->ref[i] * (1 + 0.03 * draw(&state)));
}

/* Up to some 16 ulp, either way. */
static void slightly_off(arrays *a)
{
    uint64_t state = 3;

    for (int64_t i = 0; i < a->count; i++)
        a->out[i] = ridge_dtype_round(RIDGE_DTYPE_F32, a->ref[i] * (1 + 0x1p-20 * draw(&state)));
}

/* Rows at and around 2^31 elements of a tall matrix of 256 columns. */
static const int64_t tall_rows[] = {0,       1,       4095,    8388606, 8388607,
                                    8388608, 8388609, 9000000, 9999998, 9999999};

static void from_2_31(arrays *a)
{
    a->pair.rows = tall_rows;
    a->pair.rows_axis = 0;
    a->pair.rows_extent = 10000000;
    EACH(a, i, j)
    if (tall_rows[i] * 256 + j >= INT64_C(1) << 31)
        spoil(a, AT(a, i, j));
}

static double lengths[257];

static void rows_of_length_0(arrays *a)
{
    static const double *inputs[] = {lengths};
    static const int64_t counts[] = {256};

    for (int i = 0; i < 256; i++)
        lengths[i] = i * 7 % 11;
    a->pair.inputs = inputs;
    a->pair.input_counts = counts;
    a->pair.input_count = 1;
    EACH(a, i, j)
    if (lengths[i] == 0)
        spoil(a, AT(a, i, j));
}

static void sequences_of_length_64(arrays *a)
{
    static const double *inputs[] = {lengths};
    static const int64_t counts[] = {257};

    lengths[0] = 0;
    for (int i = 0; i < 256; i++)
        lengths[i + 1] = lengths[i] + (i % 5 == 0 ? 64 : 10 + i % 50);
    a->pair.inputs = inputs;
    a->pair.input_counts = counts;
    a->pair.input_count = 1;
    EACH(a, i, j)
    if (i % 5 == 0)
        spoil(a, AT(a, i, j));
}

static void sequences_of_whole_tiles(arrays *a)
{
    static const double *inputs[] = {lengths};
    static const int64_t counts[] = {256};

    for (int i = 0; i < 256; i++)
        lengths[i] = i % 6 == 0 ? i % 96 / 6 * 16 : i;
    a->pair.inputs = inputs;
    a->pair.input_counts = counts;
    a->pair.input_count = 1;
    EACH(a, i, j)
    if (lengths[i] > 0 && lengths[i] < 255 && fmod(lengths[i], 16) == 0)
        spoil(a, AT(a, i, j));
}

static void neighbour(arrays *a, int64_t i, int64_t j, int64_t distance)
{
    a->out[AT(a, i, j)] = ridge_dtype_round(a->pair.dtype, a->ref[AT(a, i, j) - distance]);
}

static void fourth_of_a_vector(arrays *a)
{
    EACH(a, i, j)
    if (j % 4 == 3)
        neighbour(a, i, j, 1);
}

static void rows_off_16_bytes(arrays *a)
{
    EACH(a, i, j)
    if (i * a->pair.shape[1] % 8 != 0)
        spoil(a, AT(a, i, j));
}

static void half_warp_copied(arrays *a)
{
    EACH(a, i, j)
    if (j % 32 >= 16)
        neighbour(a, i, j, 16);
}

static void tile_of_its_neighbour(arrays *a)
{
    EACH(a, i, j)
    if (i / 16 == 1 && j / 32 == 2)
        neighbour(a, i, j, 32);
}

/* A race that is lost in some tiles of 16 x 32. */
static void stages_read_early(arrays *a)
{
    EACH(a, i, j)
    if (i / 16 * 5 % 7 == j / 32 % 7)
        spoil(a, AT(a, i, j));
}

static void nan_rows(arrays *a)
{
    EACH(a, i, j)
    if (i == 17 || i == 113)
        a->out[AT(a, i, j)] = NAN;
}

static void nan_elements(arrays *a)
{
    for (int64_t i = 0; i < a->count; i += 1013)
        a->out[i] = NAN;
}

static void stale(arrays *a)
{
    a->pair.previous = a->previous;
    memcpy(a->out, a->previous, (size_t)a->count * sizeof(double));
}

static void shifted(arrays *a)
{
    for (int64_t i = 0; i + 1 < a->count; i++)
        a->out[i] = ridge_dtype_round(a->pair.dtype, a->ref[i + 1]);
}

static void shifted_by_37_rows(arrays *a)
{
    for (int64_t i = 0; i + 37 * a->pair.shape[1] < a->count; i++)
        a->out[i] = ridge_dtype_round(a->pair.dtype, a->ref[i + 37 * a->pair.shape[1]]);
}

static void transposed(arrays *a)
{
    EACH(a, i, j)
    a->out[AT(a, i, j)] = ridge_dtype_round(a->pair.dtype, a->ref[j * a->pair.shape[0] + i]);
}

static void input_copied(arrays *a)
{
    static const double *inputs[2];
    static const int64_t counts[] = {3, 65536};

    inputs[0] = NULL;
    inputs[1] = a->previous;
    a->pair.inputs = inputs;
    a->pair.input_counts = counts;
    a->pair.input_count = 2;
    memcpy(a->out, a->previous, (size_t)a->count * sizeof(double));
}

/* Each output is the sum of its row, or column, of an input; ref and magnitude become those. */
static void make_sums(arrays *a, bool of_columns)
{
    enum { INPUTS = 256 * 64 };
    static double input[INPUTS];
    static const double *inputs[1];
    static const int64_t counts[] = {INPUTS};
    uint64_t state = 99;

    for (int64_t i = 0; i < INPUTS; i++)
        input[i] = ridge_dtype_round(RIDGE_DTYPE_BF16, draw_normal(&state));
    inputs[0] = input;
    a->pair.inputs = inputs;
    a->pair.input_counts = counts;
    a->pair.input_count = 1;
    for (int64_t i = 0; i < 256; i++) {
        a->ref[i] = a->magnitude[i] = 0;
        for (int64_t k = 0; k < 64; k++) {
            const double x = input[of_columns ? k * 256 + i : i * 64 + k];

            a->ref[i] += x;
            a->magnitude[i] += fabs(x);
        }
        a->out[i] = ridge_dtype_round(a->pair.dtype, a->ref[i]);
    }
}

static void lacks(arrays *a, bool of_columns, int64_t first, int64_t last, double sign)
{
    make_sums(a, of_columns);
    for (int64_t i = 0; i < 256; i++) {
        double sum = a->ref[i];

        for (int64_t k = first; k <= last; k++)
            sum -= sign * a->pair.inputs[0][of_columns ? k * 256 + i : i * 64 + k];
        a->out[i] = ridge_dtype_round(a->pair.dtype, sum);
    }
}

static void last_term(arrays *a)
{
    lacks(a, false, 63, 63, 1);
}

static void last_terms(arrays *a)
{
    lacks(a, true, 61, 63, 1);
}

static void first_terms_twice(arrays *a)
{
    lacks(a, false, 0, 3, -1);
}

static void another_formula(arrays *a)
{
    make_sums(a, false);
    for (int64_t i = 0; i < 256; i++)
        a->out[i] = ridge_dtype_round(a->pair.dtype, a->ref[i] + 0.5 * a->pair.inputs[0][i * 64]);
}

static void all_zero(arrays *a)
{
    memset(a->out, 0, (size_t)a->count * sizeof(double));
}

static void one_value(arrays *a)
{
    for (int64_t i = 0; i < a->count; i++)
        a->out[i] = 3;
}

static void random_output(arrays *a)
{
    memcpy(a->out, a->previous, (size_t)a->count * sizeof(double));
}

static void race(arrays *a)
{
    uint64_t state = 99;

    for (int i = 0; i < 40; i++)
        spoil(a, (int64_t)(fabs(draw(&state)) * (double)a->count));
}

static void some_rows(arrays *a)
{
    static const int rows[] = {3, 18, 19, 77, 140, 201};

    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        for (int64_t j = 0; j < a->pair.shape[1]; j++)
            spoil(a, AT(a, rows[k], j));
}

/* exp of a row overflows in one place: inf / inf there, x / inf in the others. */
static void one_overflows(arrays *a)
{
    EACH(a, i, j)
    if (i == 19)
        a->out[AT(a, i, j)] = j == 27 ? NAN : 0;
}

/* Right values that are all the same. */
static void one_right_value(arrays *a)
{
    EACH(a, i, j)
    {
        a->ref[AT(a, i, j)] = 1;
        a->out[AT(a, i, j)] = 1 + 1e-4;
    }
}

static struct cause_case {
    const char *name;
    ridge_dtype dtype;
    int64_t rows, columns, tile_rows, tile_columns;
    int64_t length;
    damage *damage;
    const char *id;
    const char *words;
} cause_cases[] = {
    {"last rows of a partial tile", RIDGE_DTYPE_BF16, 260, 256, 64, 0, 64, last_rows,
     "partial_tile", "rows 256-259, the partial tile (260 mod 64)"},
    {"last rows, tile unknown", RIDGE_DTYPE_F32, 260, 256, 64, 0, 64, last_rows_untiled,
     "partial_tile", "only the last rows 256-259"},
    {"last columns", RIDGE_DTYPE_F16, 256, 130, 0, 64, 64, last_columns, "partial_tile",
     "columns 128-129"},
    {"last column is zero", RIDGE_DTYPE_F32, 256, 129, 0, 32, 0, last_column_zero, "partial_tile",
     "column 128"},
    {"one lane of 32", RIDGE_DTYPE_BF16, 256, 256, 0, 0, 64, lane_5_of_32, "lane_mapping",
     "column mod 32 = 5"},
    {"upper half of a warp", RIDGE_DTYPE_BF16, 256, 256, 0, 0, 64, upper_half_warp, "lane_mapping",
     "column mod 32 in 16-31"},
    {"a row of a fragment", RIDGE_DTYPE_F16, 256, 256, 0, 0, 64, fragment_mod_8, "lane_mapping",
     "row mod 8 = 3"},
    {"last of a vector of 16 bytes", RIDGE_DTYPE_F32, 256, 256, 0, 0, 64, vector_mod_4,
     "vector_alignment", "column mod 4 = 3, 16 bytes"},
    {"one tile", RIDGE_DTYPE_BF16, 256, 256, 64, 32, 64, one_tile, "one_tile",
     "rows 128-191, columns 32-63"},
    {"one tile, extents unknown", RIDGE_DTYPE_BF16, 256, 256, 64, 32, 64, one_tile_untiled,
     "one_tile", "rows 128-191, columns 32-63"},
    {"first tile of rows", RIDGE_DTYPE_BF16, 256, 256, 64, 0, 64, first_tile, "prologue",
     "first tile"},
    {"first tile of both", RIDGE_DTYPE_F32, 256, 256, 64, 32, 64, first_tile_corner, "prologue",
     "first tile"},
    {"every 4th stage", RIDGE_DTYPE_BF16, 512, 64, 16, 0, 64, every_fourth_stage, "pipeline_stage",
     "row mod 64 in 48-63, every 4."},
    {"every 3rd tile of 24", RIDGE_DTYPE_BF16, 480, 64, 24, 0, 64, every_third_tile,
     "pipeline_stage", "row mod 72 in 24-47, every 3."},
    {"twice", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, twice, "scale", "out = 2 x ref"},
    {"a third", RIDGE_DTYPE_F16, 256, 256, 64, 64, 64, third, "scale", "out = 1/3 x ref"},
    {"exp2 for exp", RIDGE_DTYPE_F32, 256, 256, 64, 64, 0, exp_base, "scale",
     "out = log2(e) x ref"},
    {"scale of a head", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, head_scale, "scale",
     "out = 1/sqrt(128) x ref"},
    {"mean not taken", RIDGE_DTYPE_F32, 256, 256, 64, 64, 4096, mean_missing, "scale",
     "out = 4096 x ref"},
    {"sign", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, negated, "sign", "-ref"},
    {"bias added", RIDGE_DTYPE_F32, 256, 256, 64, 64, 64, bias, "offset", "+ 96"},
    {"poison in the last rows", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, poison_tail, "unwritten",
     "rows 192-255 are not written: the grid is too small"},
    {"poison everywhere", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, poison_all, "unwritten",
     "nothing is written"},
    {"all slightly too large", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, too_large, "low_precision",
     "slightly too large"},
    {"a sum without its last term", RIDGE_DTYPE_F32, 256, 1, 0, 0, 64, last_term, "missing_term",
     "out = ref - term 63 of 64: the sum lacks it: the loop ends early"},
    {"the same in bf16", RIDGE_DTYPE_BF16, 256, 1, 0, 0, 64, last_term, "missing_term",
     "out = ref - term 63 of 64"},
    {"columns without their last terms", RIDGE_DTYPE_F32, 256, 1, 0, 0, 64, last_terms,
     "missing_term", "out = ref - terms 61-63 of 64"},
    {"first terms twice", RIDGE_DTYPE_F32, 256, 1, 0, 0, 64, first_terms_twice, "missing_term",
     "out = ref + terms 0-3 of 64: summed twice"},
    {"another formula", RIDGE_DTYPE_F32, 256, 1, 0, 0, 64, another_formula, "beyond_rounding",
     "far beyond rounding: a term is missing or added"},
    {"low precision, either way", RIDGE_DTYPE_F32, 256, 256, 64, 64, 64, sum_in_bf16,
     "low_precision", "everywhere and small"},
    {"the same, said to be elementwise", RIDGE_DTYPE_F32, 256, 256, 64, 64, 0, slightly_off,
     "beyond_ulp", "work() has to say accumulate_length"},
    {"from 2^31 elements on", RIDGE_DTYPE_BF16, 10, 256, 64, 0, 64, from_2_31, "index_32bit",
     "from element 2147483648 on (2^31 elements)"},
    {"from 2^31 elements on, f32", RIDGE_DTYPE_F32, 10, 256, 0, 0, 64, from_2_31, "index_32bit",
     "2^31"},
    {"rows of length 0", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, rows_of_length_0, "row_length",
     "rows of length 0:"},
    {"sequences of one length", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, sequences_of_length_64,
     "row_length", "rows of length 64:"},
    {"sequences of whole tiles", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, sequences_of_whole_tiles,
     "row_length", "rows whose length mod 16 is 0:"},
    {"a vector's third for its fourth", RIDGE_DTYPE_F32, 256, 256, 0, 0, 0, fourth_of_a_vector,
     "vector_alignment", "column mod 4 = 3, 16 bytes"},
    {"rows that are not aligned", RIDGE_DTYPE_BF16, 256, 250, 0, 0, 0, rows_off_16_bytes,
     "vector_alignment", "row mod 4 in 1-3, rows off 16 bytes"},
    {"a warp's lower half in its upper", RIDGE_DTYPE_F32, 256, 256, 0, 0, 0, half_warp_copied,
     "lane_mapping", "column mod 32 in 16-31"},
    {"a tile of its neighbour's values", RIDGE_DTYPE_F32, 256, 256, 0, 0, 64, tile_of_its_neighbour,
     "one_tile", "rows 16-31, columns 64-95"},
    {"stages read early", RIDGE_DTYPE_F32, 256, 256, 0, 0, 64, stages_read_early, "pipeline_stage",
     "of 128 tiles of 16 x 32, whole: a stage read before it arrived"},
    {"rows of NaN", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, nan_rows, "nan",
     "2 whole rows are NaN"},
    {"scattered NaN", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, nan_elements, "nan",
     "NaN: inf - inf"},
    {"a row that overflows in one place", RIDGE_DTYPE_F32, 21, 31, 0, 0, 31, one_overflows, "nan",
     "NaN and 0: an overflow"},
    {"of one right value no offset", RIDGE_DTYPE_F32, 21, 31, 0, 0, 31, one_right_value,
     "low_precision", "slightly too large"},
    {"stale", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, stale, "stale", "launch before"},
    {"shifted by one", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, shifted, "shifted",
     "out[i] = ref[i + 1]"},
    {"shifted by 37 rows", RIDGE_DTYPE_F32, 256, 200, 64, 64, 64, shifted_by_37_rows, "shifted",
     "out[i] = ref[i + 7400]"},
    {"transposed", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, transposed, "transposed", "transposed"},
    {"other stride", RIDGE_DTYPE_BF16, 128, 200, 64, 64, 64, transposed, "transposed", "strides"},
    {"an input", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, input_copied, "input_copied", "input 1"},
    {"zero", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, all_zero, "zeros", "all zero"},
    {"one value", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, one_value, "constant", "everything is 3"},
    {"random", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, random_output, "unrelated", "unrelated"},
    {"race", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, race, "scattered", "race"},
    {"some rows", RIDGE_DTYPE_BF16, 256, 256, 64, 64, 64, some_rows, "whole_rows", "6 whole rows"},
};

static void has_cause(void **state)
{
    const struct cause_case *const row = *state;
    static ridge_mismatch got;
    arrays a;

    arrays_make(&a, row->dtype, 2, (const int64_t[]){row->rows, row->columns}, row->length);
    a.pair.tile[0] = row->tile_rows;
    a.pair.tile[1] = row->tile_columns;
    row->damage(&a);
    arrays_compare(&a, &got);
    arrays_release(&a);
    assert_int_equal(got.match, RIDGE_MATCH_WRONG);
    if (strcmp(got.cause_id, row->id) != 0 || strstr(got.cause, row->words) == NULL)
        fail_msg("%s: %s", got.cause_id, got.cause);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, has_cause, cause_cases);
    return cases_run(&list, "cause");
}
