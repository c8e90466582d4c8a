/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "base/memory.h"
#include "ridge/banks.h"

enum { MOST = RIDGE_BANK_KIND_COUNT * RIDGE_BANKS_KIND_MOST };

struct solved {
    ridge_bank_tile tile;
    ridge_bank_pattern patterns[RIDGE_BANKS_MOST_PATTERNS];
    ridge_bank_question question;
    ridge_bank_candidate candidates[MOST];
    size_t count;
    ridge_bank_solution solution;
};

static void ask(struct solved *out, const char *tile, const char *const *patterns)
{
    ridge_error err;

    memset(out, 0, sizeof(*out));
    if (ridge_bank_tile_read(tile, &out->tile, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    out->question = (ridge_bank_question){.tile = &out->tile, .patterns = out->patterns};
    for (; *patterns != NULL; patterns++)
        if (ridge_bank_pattern_read(*patterns, &out->patterns[out->question.pattern_count++],
                                    &err) != RIDGE_OK)
            fail_msg("%s", err.text);
}

static void solve(struct solved *out, const char *tile, const char *const *patterns)
{
    ridge_error err;

    ask(out, tile, patterns);
    if (ridge_banks_solve(&out->question, out->candidates, MOST, &out->count, &out->solution,
                          &err) != RIDGE_OK)
        fail_msg("%s", err.text);
}

/* The wavefronts of a token-strided read of one bf16 each, by the definition, written anew. */
static int column_wavefronts(int stride_bytes)
{
    int fullest = 0;

    for (int bank = 0; bank < 32; bank++) {
        int words = 0;

        for (int lane = 0; lane < 32; lane++) {
            const int word = lane * stride_bytes / 4;
            bool is_new = word % 32 == bank;

            for (int other = 0; other < lane && is_new; other++)
                is_new = other * stride_bytes / 4 != word;
            words += is_new;
        }
        fullest = words > fullest ? words : fullest;
    }
    return fullest;
}

/* bf16 down a column under 16-byte rows: 4-way, proven, and what breaks it. */
static void floor_of_token_strided(void **state)
{
    static struct solved got;
    const ridge_bank_floor *const floor = &got.solution.floors[1];
    int least = 32;

    (void)state;
    solve(&got, "64x128:bf16",
          (const char *const[]){"cp.async.16 row", "ld.2 token-strided", NULL});
    for (int stride = 256; stride < 256 + 128; stride += 16)
        least = column_wavefronts(stride) < least ? column_wavefronts(stride) : least;
    assert_int_equal(least, 4);
    assert_int_equal(floor->degree, 4);
    assert_int_equal(floor->piece_bytes, 16);
    assert_int_equal(floor->wavefronts, 4 * floor->ideal);
    assert_int_equal(floor->reached_stride_bytes, 272);
    assert_int_equal(floor->free_piece_bytes, 4);
    assert_int_equal(floor->free_stride_bytes, 260);
    assert_int_equal(column_wavefronts(260), 1);
    assert_int_equal(floor->quarter_stride_bytes, 272);
    assert_int_equal(got.solution.floors[0].wavefronts, got.solution.floors[0].ideal);
    for (size_t i = 0; i < got.count; i++) {
        assert_true(got.candidates[i].results[1].wavefronts >= floor->wavefronts);
        assert_true(got.candidates[i].piece_bytes == 16);
    }
    assert_int_equal(got.solution.given.results[1].worst.wavefronts, 32);
}

/* One layout for plain and transposed matrix reads and the writes, by name. */
static void one_copy_for_both_directions(void **state)
{
    static struct solved got;

    (void)state;
    solve(&got, "16x128:bf16",
          (const char *const[]){"st.16 quarter-rows", "ldmatrix.x4", "ldmatrix.x4.trans ldmatrix-b",
                                "ld.4 mma-a", NULL});
    assert_int_equal(got.candidates[0].kind, RIDGE_BANK_BLOCKED);
    assert_int_equal(got.candidates[0].excess, 0);
    assert_int_equal(got.candidates[0].lost_bytes, 0);
    assert_int_equal(got.candidates[0].address_ops, 0);
    solve(&got, "64x64:bf16",
          (const char *const[]){"cp.async.16 row", "ldmatrix.x4", "ldmatrix.x4.trans ldmatrix-b",
                                NULL});
    assert_int_equal(got.candidates[0].kind, RIDGE_BANK_PANELED);
    assert_int_equal(got.candidates[0].tile.swizzle_bits, 3);
    assert_int_equal(got.candidates[0].excess, 0);
    /* padding frees the reads; the copies are cut: 10 wavefronts for 8 rows of 144 bytes, not 4 */
    for (size_t i = 0; i < got.count; i++)
        if (got.candidates[i].kind == RIDGE_BANK_PADDED) {
            assert_int_equal(got.candidates[i].tile.stride_bytes, 144);
            assert_int_equal(got.candidates[i].results[0].wavefronts, 168);
            assert_int_equal(got.candidates[i].results[1].wavefronts, 64);
            break;
        }
}

/* 4-byte copies leave the strides free. */
static void small_pieces_are_free(void **state)
{
    static struct solved got;

    (void)state;
    solve(&got, "64x128:bf16", (const char *const[]){"cp.async.4 row", "ld.2 token-strided", NULL});
    assert_int_equal(got.candidates[0].excess, 0);
    for (size_t i = 0; i < got.count; i++)
        if (got.candidates[i].kind == RIDGE_BANK_PADDED) {
            assert_int_equal(got.candidates[i].tile.stride_bytes, 260);
            break;
        }
    /* the same under whole 16-byte pieces, because someone else copies */
    got.question.align_bytes = 16;
    assert_int_equal(
        ridge_banks_solve(&got.question, got.candidates, MOST, &got.count, &got.solution, NULL),
        RIDGE_OK);
    assert_int_equal(got.solution.floors[1].degree, 4);
    assert_true(got.candidates[0].excess > 0);
}

/* Of a cp.async.16, a load and a store: a wavefront of the first is a quarter. */
static int64_t quarters(const ridge_bank_candidate *row)
{
    return row->results[0].wavefronts +
           4 * (row->results[1].wavefronts + row->results[2].wavefronts);
}

static void is_sorted_and_stable(void **state)
{
    static struct solved first, again;

    (void)state;
    solve(&first, "64x96:bf16",
          (const char *const[]){"cp.async.16 row", "ldmatrix.x4", "st.4 mma-c", NULL});
    solve(&again, "64x96:bf16",
          (const char *const[]){"cp.async.16 row", "ldmatrix.x4", "st.4 mma-c", NULL});
    assert_int_equal(first.count, again.count);
    for (size_t i = 0; i < first.count; i++) {
        const ridge_bank_candidate *const row = &first.candidates[i];

        assert_memory_equal(&row->tile, &again.candidates[i].tile, sizeof(row->tile));
        if (i > 0)
            assert_true(quarters(&row[-1]) <= quarters(row));
        /* each result is what a simulation of its own gives */
        for (size_t j = 0; j < first.question.pattern_count; j++) {
            ridge_bank_result result;

            assert_int_equal(ridge_bank_pattern_run(&first.patterns[j], &row->tile, &result, NULL),
                             RIDGE_OK);
            assert_int_equal(result.wavefronts, row->results[j].wavefronts);
            assert_int_equal(result.ideal, row->results[j].ideal);
        }
    }
}

/* 16 KiB fit four times beside 40 KiB, 17,392 bytes three times. */
static void costs_occupancy(void **state)
{
    static struct solved got;
    const ridge_arch *const arch = ridge_arch_find(9, 0);
    bool seen = false;

    (void)state;
    ask(&got, "64x128:bf16", (const char *const[]){"cp.async.16", "ldmatrix.x4", NULL});
    got.question.arch = arch;
    got.question.launch = (ridge_launch){.threads_per_block = 256, .shared_bytes = 40 * 1024};
    got.question.tile_copies = 1;
    assert_int_equal(
        ridge_banks_solve(&got.question, got.candidates, MOST, &got.count, &got.solution, NULL),
        RIDGE_OK);
    assert_int_equal(got.solution.given.blocks_per_sm, 4);
    assert_int_equal(got.candidates[0].blocks_per_sm, 4);
    for (size_t i = 0; i < got.count; i++)
        if (got.candidates[i].kind == RIDGE_BANK_PADDED) {
            seen = true;
            assert_int_equal(got.candidates[i].blocks_per_sm, 3);
        }
    assert_true(seen);
    got.question.tile_copies = 2;
    assert_int_equal(
        ridge_banks_solve(&got.question, got.candidates, MOST, &got.count, &got.solution, NULL),
        RIDGE_OK);
    assert_int_equal(got.solution.given.blocks_per_sm, 3);
}

static void given_layout_may_trap(void **state)
{
    static struct solved got;

    (void)state;
    solve(&got, "64x128:bf16:130", (const char *const[]){"cp.async.16", NULL});
    assert_int_equal(got.solution.given.piece_bytes, 0);
    assert_non_null(strstr(got.solution.given_error.text, "is no multiple of the 16 bytes"));
    assert_int_equal(got.candidates[0].excess, 0);
}

/* Lanes that copy to the same 16 bytes are one, so that 512 bytes may be one wavefront. */
static void floor_of_equal_copies(void **state)
{
    static struct solved got;

    (void)state;
    solve(&got, "16x64:fp32", (const char *const[]){"cp.async.16 0, 0", NULL});
    assert_int_equal(got.candidates[0].wavefronts, 1);
    assert_int_equal(got.solution.floors[0].wavefronts, 1);
}

/* The search keeps addresses and counts; a run of one layout finds each anew. */
static const char *const agreeing[][RIDGE_BANKS_MOST_PATTERNS + 1] = {
    {"64x96:bf16", "ld.2 lane * 7 % 64, i * 5 % 96 i=200", "st.4 row", "ld.16 quarter-rows"},
    {"40x72:int8", "ld.1 row", "ld.8 lane, i * 8 i=9 lanes=0x0ff0f00f", "st.1 token-strided"},
    {"64x64:fp32:base=128", "cp.async.16 row", "ldmatrix.x2.trans", "ld.4 row @1,2"},
};

static void agrees_with_a_run(void **state)
{
    static struct solved got;

    (void)state;
    for (size_t i = 0; i < sizeof(agreeing) / sizeof(agreeing[0]); i++) {
        solve(&got, agreeing[i][0], &agreeing[i][1]);
        assert_true(got.count > 1);
        for (size_t at = 0; at < got.count; at++)
            for (size_t k = 0; k < got.question.pattern_count; k++) {
                ridge_bank_result run;

                assert_int_equal(
                    ridge_bank_pattern_run(&got.patterns[k], &got.candidates[at].tile, &run, NULL),
                    RIDGE_OK);
                assert_memory_equal(&run, &got.candidates[at].results[k], sizeof(run));
            }
    }
}

static struct bad {
    const char *name, *tile, *pattern, *message;
    int align;
} bads[] = {
    {"too many steps", "256x256:int8", "ld.1 token-strided i=5000",
     "5000 instructions to walk the tile, at most 4096 can be solved", 0},
    {"no fit", "64x128:bf16", "ld.1 row", "less than an element", 0},
    {"alignment", "64x128:bf16", "ld.2 row", "alignment of 3 bytes, expected 1, 2, 4, 8 or 16", 3},
    {"no lane", "64x128:bf16", "ld.2 row @64,0", "ld.2 row: no lane takes part", 0},
    {"no access", "64x128:bf16", NULL, "0 accesses, expected 1 to 8", 0},
};

static void rejects(void **state)
{
    static struct solved got;
    const struct bad *const test = *state;
    ridge_error err;

    ask(&got, test->tile, (const char *const[]){test->pattern, NULL});
    got.question.align_bytes = test->align;
    got.count = 7;
    assert_int_equal(
        ridge_banks_solve(&got.question, got.candidates, MOST, &got.count, &got.solution, &err),
        RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(got.count, 0);
    if (strstr(err.text, test->message) == NULL)
        fail_msg("%s", err.text);
}

static void runs_out_of_memory(void **state)
{
    static struct solved got;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t nth = 0;

    (void)state;
    ask(&got, "64x128:bf16", (const char *const[]){"cp.async.16", "ld.2 token-strided", NULL});
    while (status == RIDGE_ERR_OUT_OF_MEMORY) {
        ridge_memory_fail_at(++nth);
        status =
            ridge_banks_solve(&got.question, got.candidates, MOST, &got.count, &got.solution, NULL);
        ridge_memory_fail_at(0);
        assert_int_equal(got.count > 0, status == RIDGE_OK);
    }
    assert_int_equal(status, RIDGE_OK);
    assert_true(nth > 3);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, rejects, bads);
    cases_add(&list, "floor of a token-strided read", floor_of_token_strided, NULL);
    cases_add(&list, "one copy for both directions", one_copy_for_both_directions, NULL);
    cases_add(&list, "small pieces are free", small_pieces_are_free, NULL);
    cases_add(&list, "sorted and stable", is_sorted_and_stable, NULL);
    cases_add(&list, "costs occupancy", costs_occupancy, NULL);
    cases_add(&list, "the given layout may trap", given_layout_may_trap, NULL);
    cases_add(&list, "floor of equal copies", floor_of_equal_copies, NULL);
    cases_add(&list, "agrees with a run", agrees_with_a_run, NULL);
    cases_add(&list, "out of memory", runs_out_of_memory, NULL);
    return cases_run(&list, "solve");
}
