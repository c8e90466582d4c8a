/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts for a set of accesses. The search is exhaustive over small families: bank conflicts repeat
 * with a row stride of 128 bytes, and a swizzle is three small numbers. The elements of every step
 * are found once; each layout then turns them into addresses and simulates them, and is given up as
 * soon as it is worse than those kept of its kind.
 *
 * A floor needs no search: a layout that keeps aligned pieces of P bytes whole leaves a word at its
 * place in its piece, so that words at one place lie in 128 / P banks, whatever the layout. */
#include <assert.h>
#include <string.h>

#include "banks/banks_internal.h"
#include "base/memory.h"
#include "ridge/banks.h"

enum {
    LANES = RIDGE_BANKS_LANES,
    TURN_BYTES = RIDGE_BANKS_COUNT * RIDGE_BANKS_WORD_BYTES,
    WORD_BYTES = RIDGE_BANKS_WORD_BYTES,
    MOST_BITS = 5,
};

struct search {
    const ridge_bank_question *question;
    int align_bytes;
    banks_runner *runner;
    banks_steps steps[RIDGE_BANKS_MOST_PATTERNS];
    ridge_bank_candidate kept[RIDGE_BANK_KIND_COUNT][RIDGE_BANKS_KIND_MOST];
    int kept_count[RIDGE_BANK_KIND_COUNT];
    ridge_bank_solution solution;
};

/* -- one layout -------------------------------------------------------------------------------- */

/* Quarters of a wavefront of the data pipe. Measured on an H200: from 4 to 10 wavefronts a
 * cp.async.16 takes 3.3 to 4.4 cycles, one of the pipe takes one each (bench/banks/copy_time.cu). */
static int64_t cost_of_wavefront(const ridge_bank_access *access)
{
    return access->op == RIDGE_BANK_CP_ASYNC && access->width_bytes == 16 ? 1 : 4;
}

static ridge_status run_patterns(const struct search *search, int64_t limit,
                                 ridge_bank_candidate *candidate, ridge_error *err)
{
    const ridge_bank_question *const question = search->question;

    candidate->cost = candidate->wavefronts = candidate->excess = 0;
    for (size_t i = 0; i < question->pattern_count && candidate->cost <= limit; i++) {
        const int64_t each = cost_of_wavefront(&question->patterns[i].access);
        ridge_bank_result *const result = &candidate->results[i];
        const ridge_status status =
            banks_run_steps(search->runner, &candidate->tile, &question->patterns[i],
                            &search->steps[i], (limit - candidate->cost) / each, result, err);

        if (status != RIDGE_OK)
            return status;
        candidate->cost += each * result->wavefronts;
        candidate->wavefronts += result->wavefronts;
        candidate->excess += result->wavefronts - result->ideal;
    }
    return RIDGE_OK;
}

/* What the steps of one layout have in common. */
struct motion {
    uint32_t first[LANES], first_plain[LANES];
    bool is_uniform;    /* every lane moves by the same number of bytes from the first step on */
    bool has_same_bits; /* the swizzle exclusive-ors the same bits in a lane each time */
};

static void watch(struct motion *motion, uint32_t lanes, const uint32_t address[LANES],
                  const uint32_t plain[LANES])
{
    bool has_moved = false;
    uint32_t moved = 0;

    for (int lane = 0; lane < LANES; lane++) {
        const uint32_t by = address[lane] - motion->first[lane];

        if ((lanes >> lane & 1) == 0)
            continue;
        if (has_moved && by != moved)
            motion->is_uniform = false;
        if ((address[lane] ^ plain[lane]) != (motion->first[lane] ^ motion->first_plain[lane]))
            motion->has_same_bits = false;
        moved = by;
        has_moved = true;
    }
}

static int count_address_ops(const ridge_bank_tile *tile, const ridge_bank_pattern *pattern,
                             const banks_steps *steps)
{
    struct motion motion = {.is_uniform = true, .has_same_bits = true};
    ridge_bank_tile plain = *tile;

    if (tile->order == RIDGE_BANK_ROWS && tile->swizzle_bits == 0 && tile->xor_text[0] == '\0')
        return 0;
    plain.swizzle_bits = 0;
    plain.xor_text[0] = '\0';
    for (int step = 0; step < steps->count && (motion.is_uniform || motion.has_same_bits); step++) {
        const ridge_bank_elements *const elements = &steps->elements[step];
        uint32_t address[LANES], address_plain[LANES];

        if (ridge_bank_tile_addresses(tile, pattern, elements, address, NULL) != RIDGE_OK ||
            ridge_bank_tile_addresses(&plain, pattern, elements, address_plain, NULL) != RIDGE_OK)
            return 2;
        if (step == 0) {
            memcpy(motion.first, address, sizeof(address));
            memcpy(motion.first_plain, address_plain, sizeof(address_plain));
        }
        watch(&motion, elements->lanes & steps->elements[0].lanes, address, address_plain);
    }
    return motion.is_uniform ? 0 : motion.has_same_bits ? 1 : 2;
}

static int blocks_per_sm(const ridge_bank_question *question, const ridge_bank_tile *tile)
{
    const size_t bytes = ridge_bank_tile_bytes(tile) * (size_t)question->tile_copies;
    ridge_launch launch = question->launch;
    ridge_occupancy occupancy;

    if (question->arch == NULL)
        return -1;
    if (bytes > INT32_MAX / 2 || launch.shared_bytes > INT32_MAX / 2)
        return 0;
    launch.shared_bytes += (int)bytes;
    return ridge_occupancy_of(question->arch, &launch, &occupancy, NULL) == RIDGE_OK
               ? occupancy.blocks_per_sm
               : -1;
}

static void describe(const struct search *search, ridge_bank_candidate *candidate)
{
    const ridge_bank_question *const question = search->question;
    const ridge_bank_tile *const tile = &candidate->tile;

    candidate->piece_bytes = ridge_bank_tile_piece_bytes(tile);
    candidate->lost_bytes = (int64_t)ridge_bank_tile_bytes(tile) - (int64_t)tile->rows *
                                                                       (int64_t)tile->columns *
                                                                       (int64_t)tile->element_bytes;
    candidate->blocks_per_sm = blocks_per_sm(question, tile);
    candidate->address_ops = 0;
    for (size_t i = 0; i < question->pattern_count; i++) {
        const int ops = count_address_ops(tile, &question->patterns[i], &search->steps[i]);

        candidate->address_ops = ops > candidate->address_ops ? ops : candidate->address_ops;
    }
}

/* -- keeping the best -------------------------------------------------------------------------- */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Negative when a is better. */
static int compare(const ridge_bank_candidate *a, const ridge_bank_candidate *b)
{
    const int64_t orders[][2] = {
        {a->cost, b->cost},
        {b->blocks_per_sm, a->blocks_per_sm},
        {a->address_ops, b->address_ops}, /* bytes that cost no block are cheaper */
        {a->lost_bytes, b->lost_bytes},
        {a->kind, b->kind},
        {a->tile.stride_bytes, b->tile.stride_bytes},
        {b->tile.panel_bytes, a->tile.panel_bytes},
        {a->tile.swizzle_bits, b->tile.swizzle_bits},
        {b->tile.swizzle_first_bit, a->tile.swizzle_first_bit}, /* larger pieces */
        {a->tile.swizzle_distance, b->tile.swizzle_distance},
    };

    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        const int order = compare_numbers(orders[i][0], orders[i][1]);

        if (order != 0)
            return order;
    }
    return 0;
}

static void keep(struct search *search, const ridge_bank_candidate *candidate)
{
    ridge_bank_candidate *const kept = search->kept[candidate->kind];
    int *const count = &search->kept_count[candidate->kind];
    int at = *count;

    while (at > 0 && compare(candidate, &kept[at - 1]) < 0)
        at--;
    if (at == RIDGE_BANKS_KIND_MOST)
        return;
    if (*count < RIDGE_BANKS_KIND_MOST)
        (*count)++;
    memmove(&kept[at + 1], &kept[at], (size_t)(*count - 1 - at) * sizeof(*kept));
    kept[at] = *candidate;
}

static void try_layout(struct search *search, ridge_bank_kind kind, const ridge_bank_tile *tile)
{
    ridge_bank_candidate candidate = {.kind = kind, .tile = *tile};
    const int kept = search->kept_count[kind];
    const int64_t limit = kept == RIDGE_BANKS_KIND_MOST
                              ? search->kept[kind][RIDGE_BANKS_KIND_MOST - 1].cost
                              : INT64_MAX;

    if (ridge_bank_tile_check(tile, NULL) != RIDGE_OK)
        return;
    search->solution.candidate_count++;
    if (ridge_bank_tile_piece_bytes(tile) < search->align_bytes) {
        search->solution.excluded_align++;
        return;
    }
    if (run_patterns(search, limit, &candidate, NULL) != RIDGE_OK) {
        search->solution.excluded_trap++;
        return;
    }
    if (candidate.cost > limit)
        return;
    describe(search, &candidate);
    keep(search, &candidate);
}

/* The tile without padding and swizzle. */
static ridge_bank_tile plain_tile(const ridge_bank_tile *tile)
{
    ridge_bank_tile plain = *tile;

    plain.order = RIDGE_BANK_ROWS;
    plain.stride_bytes = tile->columns * tile->element_bytes;
    plain.panel_bytes = 0;
    plain.swizzle_bits = plain.swizzle_first_bit = plain.swizzle_distance = 0;
    plain.xor_text[0] = '\0';
    return plain;
}

/* The same as one panel, which is tried under its own name. */
static bool is_mode(const ridge_bank_tile *tile)
{
    return tile->swizzle_first_bit == 4 && tile->swizzle_distance == 3 &&
           tile->stride_bytes == 16 << tile->swizzle_bits && tile->rows % 8 == 0;
}

static void try_swizzles(struct search *search, ridge_bank_tile tile)
{
    const size_t bytes = ridge_bank_tile_bytes(&tile);
    int size_bits = 0, element_bits = 0;

    while ((size_t)1 << size_bits < bytes)
        size_bits++;
    while (1 << element_bits < tile.element_bytes)
        element_bits++;
    for (int bits = 1; bits <= MOST_BITS; bits++)
        for (int first = element_bits; first <= 6; first++)
            for (int distance = bits; first + distance + bits <= size_bits; distance++) {
                tile.swizzle_bits = bits;
                tile.swizzle_first_bit = first;
                tile.swizzle_distance = distance;
                if (!is_mode(&tile))
                    try_layout(search, RIDGE_BANK_SWIZZLED, &tile);
            }
}

static void try_all(struct search *search)
{
    static const int panels[][2] = {{128, 3}, {64, 2}, {32, 1}}; /* bytes, bits */
    const ridge_bank_tile plain = plain_tile(search->question->tile);
    ridge_bank_tile tile = plain;

    for (int padding = 0; padding < TURN_BYTES; padding += plain.element_bytes) {
        tile.stride_bytes = plain.stride_bytes + padding;
        try_layout(search, RIDGE_BANK_PADDED, &tile);
    }
    tile = plain;
    tile.order = RIDGE_BANK_BLOCKS;
    try_layout(search, RIDGE_BANK_BLOCKED, &tile);
    for (size_t i = 0; i < sizeof(panels) / sizeof(panels[0]); i++) {
        tile = plain;
        tile.order = RIDGE_BANK_PANELS;
        tile.panel_bytes = panels[i][0];
        tile.swizzle_bits = panels[i][1];
        tile.swizzle_first_bit = 4;
        tile.swizzle_distance = 3;
        try_layout(search, RIDGE_BANK_PANELED, &tile);
    }
    try_swizzles(search, plain);
}

static void try_given(struct search *search)
{
    ridge_bank_candidate *const given = &search->solution.given;

    *given = (ridge_bank_candidate){.kind = RIDGE_BANK_GIVEN, .tile = *search->question->tile};
    if (run_patterns(search, INT64_MAX, given, &search->solution.given_error) == RIDGE_OK)
        describe(search, given);
}

/* -- floors ------------------------------------------------------------------------------------ */

/* Different words of a phase at each place of their pieces. */
struct places {
    int64_t word[LANES * 4];
    int count;
    int at[4];
};

static void add_place(struct places *places, int64_t word, int place)
{
    for (int i = 0; i < places->count; i++)
        if (places->word[i] == word)
            return;
    places->word[places->count++] = word;
    places->at[place]++;
}

/* Most different words at one place of a phase, in the banks they have: wavefronts at least. */
static int phase_floor(const ridge_bank_tile *tile, const ridge_bank_access *access,
                       const ridge_bank_elements *elements, const int phase_of[LANES], int phase,
                       int piece_bytes)
{
    const int words = piece_bytes / WORD_BYTES;
    const int banks = RIDGE_BANKS_COUNT / words;
    const int64_t row_bytes = (int64_t)tile->columns * tile->element_bytes;
    struct places places = {.count = 0};
    int most = 0;

    for (int lane = 0; lane < LANES; lane++) {
        const int64_t column_bytes = (int64_t)elements->column[lane] * tile->element_bytes;

        if (phase_of[lane] != phase || (elements->lanes >> lane & 1) == 0)
            continue;
        for (int byte = 0; byte < access->width_bytes; byte += WORD_BYTES) {
            const int64_t word = (column_bytes + byte) / WORD_BYTES;

            add_place(&places, elements->row[lane] * row_bytes + word, (int)(word % words));
        }
    }
    for (int i = 0; i < words; i++) {
        const int least = (places.at[i] + banks - 1) / banks;

        most = least > most ? least : most;
    }
    return most;
}

static int step_floor(const ridge_bank_tile *tile, const ridge_bank_access *access,
                      const ridge_bank_elements *elements, int piece_bytes, int *ideal, int *degree)
{
    const int64_t row_bytes = (int64_t)tile->columns * tile->element_bytes;
    uint32_t address[LANES];
    uint32_t lanes = elements->lanes;
    int phase_of[LANES];
    int phase_count, sum = 0, bytes = 0;

    for (int lane = 0; lane < LANES; lane++) /* equal where the elements are */
        address[lane] = (uint32_t)(elements->row[lane] * row_bytes +
                                   (int64_t)elements->column[lane] * tile->element_bytes);
    if (access->op == RIDGE_BANK_CP_ASYNC && access->width_bytes == 16)
        lanes = banks_writers(address, lanes);
    for (; lanes != 0; lanes &= lanes - 1)
        bytes += access->width_bytes;
    *ideal = (bytes + TURN_BYTES - 1) / TURN_BYTES;
    if (access->op == RIDGE_BANK_CP_ASYNC) /* needs no more than its bytes in the best layout */
        return *ideal;
    phase_count = banks_phases(access, address, elements->lanes, phase_of);
    for (int phase = 0; phase < phase_count; phase++) {
        const int least = phase_floor(tile, access, elements, phase_of, phase, piece_bytes);

        *degree = least > *degree ? least : *degree;
        sum += least;
    }
    *ideal = *ideal > sum ? sum : *ideal;
    return sum;
}

static void bound(const ridge_bank_tile *tile, const ridge_bank_access *access,
                  const banks_steps *steps, int piece_bytes, ridge_bank_floor *out)
{
    *out = (ridge_bank_floor){.piece_bytes = piece_bytes, .degree = 1};
    for (int step = 0; step < steps->count; step++) {
        int ideal = 0;

        out->wavefronts +=
            step_floor(tile, access, &steps->elements[step], piece_bytes, &ideal, &out->degree);
        out->ideal += ideal;
    }
}

/* The shortest row stride in multiples of align_bytes at which the pattern takes no more than that
 * many wavefronts; 0: none. */
static int find_stride(banks_runner *runner, const ridge_bank_tile *given,
                       const ridge_bank_pattern *pattern, const banks_steps *steps, int align_bytes,
                       int64_t wavefronts)
{
    ridge_bank_tile tile = plain_tile(given);
    const int row_bytes = tile.stride_bytes;
    const int step = align_bytes > tile.element_bytes ? align_bytes : tile.element_bytes;

    for (tile.stride_bytes = (row_bytes + step - 1) / step * step;
         tile.stride_bytes < row_bytes + TURN_BYTES + step; tile.stride_bytes += step) {
        ridge_bank_result result;

        if (banks_run_steps(runner, &tile, pattern, steps, wavefronts, &result, NULL) == RIDGE_OK &&
            result.wavefronts <= wavefronts)
            return tile.stride_bytes;
    }
    return 0;
}

static ridge_status find_steps(const ridge_bank_pattern *pattern, const ridge_bank_tile *tile,
                               banks_steps *out, ridge_error *err)
{
    ridge_status status = ridge_bank_pattern_steps(pattern, tile, &out->count, err);
    uint32_t lanes = 0;

    if (status != RIDGE_OK)
        return status;
    if (out->count > RIDGE_BANKS_SOLVE_STEPS) {
        const int count = out->count;

        out->count = 0;
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%d instructions to walk the tile, at most %d can be solved: i=N takes "
                          "the first N",
                          count, RIDGE_BANKS_SOLVE_STEPS);
    }
    out->elements = ridge_calloc((size_t)out->count, sizeof(*out->elements));
    if (out->elements == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    for (int step = 0; step < out->count && status == RIDGE_OK; step++) {
        status = ridge_bank_pattern_elements(pattern, tile, step, &out->elements[step], err);
        lanes |= out->elements[step].lanes;
    }
    return status == RIDGE_OK && lanes == 0 ? banks_fail_idle(pattern, err) : status;
}

/* Whole pieces in the pattern quarter-rows instead. */
static ridge_status find_quarter_stride(banks_runner *runner, const ridge_bank_tile *tile,
                                        int piece_bytes, int *stride, ridge_error *err)
{
    const ridge_bank_pattern pattern = {
        .access = {.op = RIDGE_BANK_LOAD, .width_bytes = piece_bytes},
        .where = "quarter-rows",
        .lanes = RIDGE_BANKS_ALL_LANES,
    };
    banks_steps steps = {.elements = NULL};
    ridge_bank_floor least;
    int count;
    ridge_status status = RIDGE_OK;

    if (ridge_bank_pattern_steps(&pattern, tile, &count, NULL) != RIDGE_OK ||
        count > RIDGE_BANKS_SOLVE_STEPS)
        return RIDGE_OK; /* does not fit the tile: no advice */
    status = find_steps(&pattern, tile, &steps, err);
    if (status == RIDGE_OK) {
        bound(tile, &pattern.access, &steps, WORD_BYTES, &least);
        *stride = find_stride(runner, tile, &pattern, &steps, piece_bytes, least.wavefronts);
    }
    ridge_free(steps.elements);
    return status;
}

static ridge_status find_floor(struct search *search, size_t index, ridge_error *err)
{
    const ridge_bank_tile *const tile = search->question->tile;
    const ridge_bank_pattern *const pattern = &search->question->patterns[index];
    const banks_steps *const steps = &search->steps[index];
    ridge_bank_floor *const out = &search->solution.floors[index];
    ridge_bank_floor least; /* with pieces of a word: no floor but the lanes' own */
    int piece = search->align_bytes;

    bound(tile, &pattern->access, steps, piece < WORD_BYTES ? WORD_BYTES : piece, out);
    out->reached_stride_bytes =
        find_stride(search->runner, tile, pattern, steps, piece, out->wavefronts);
    if (out->degree <= 1)
        return RIDGE_OK;
    bound(tile, &pattern->access, steps, WORD_BYTES, &least);
    for (piece = out->piece_bytes / 2;
         piece >= WORD_BYTES && piece >= pattern->access.width_bytes && out->free_stride_bytes == 0;
         piece /= 2) {
        out->free_stride_bytes =
            find_stride(search->runner, tile, pattern, steps, piece, least.wavefronts);
        out->free_piece_bytes = out->free_stride_bytes > 0 ? piece : 0;
    }
    if (pattern->access.width_bytes >= out->piece_bytes)
        return RIDGE_OK;
    return find_quarter_stride(search->runner, tile, out->piece_bytes, &out->quarter_stride_bytes,
                               err);
}

/* -- all --------------------------------------------------------------------------------------- */

static ridge_status check_question(const ridge_bank_question *question, struct search *search,
                                   ridge_error *err)
{
    const int align = question->align_bytes;
    ridge_status status;

    if (question->pattern_count < 1 || question->pattern_count > RIDGE_BANKS_MOST_PATTERNS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%zu accesses, expected 1 to %d",
                          question->pattern_count, RIDGE_BANKS_MOST_PATTERNS);
    if (align != 0 && align != 1 && align != 2 && align != 4 && align != 8 && align != 16)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "alignment of %d bytes, expected 1, 2, 4, 8 or 16", align);
    if (question->arch != NULL && question->tile_copies < 1)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%d tiles, expected at least 1",
                          question->tile_copies);
    status = ridge_bank_tile_check(question->tile, err);
    search->align_bytes = align;
    for (size_t i = 0; i < question->pattern_count; i++)
        if (question->patterns[i].access.width_bytes > search->align_bytes)
            search->align_bytes = question->patterns[i].access.width_bytes;
    return status;
}

static size_t gather(const struct search *search, ridge_bank_candidate *candidates, size_t capacity)
{
    size_t taken[RIDGE_BANK_KIND_COUNT] = {0};
    size_t count = 0;

    for (;;) {
        int best = -1;

        for (int kind = 0; kind < RIDGE_BANK_KIND_COUNT; kind++)
            if (taken[kind] < (size_t)search->kept_count[kind] &&
                (best < 0 ||
                 compare(&search->kept[kind][taken[kind]], &search->kept[best][taken[best]]) < 0))
                best = kind;
        if (best < 0)
            return count;
        if (count < capacity)
            candidates[count] = search->kept[best][taken[best]];
        taken[best]++;
        count++;
    }
}

ridge_status ridge_banks_solve(const ridge_bank_question *question,
                               ridge_bank_candidate *candidates, size_t capacity, size_t *count,
                               ridge_bank_solution *out, ridge_error *err)
{
    struct search *const search = ridge_calloc(1, sizeof(*search));
    ridge_status status;

    *count = 0;
    memset(out, 0, sizeof(*out));
    if (search == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    search->question = question;
    status = check_question(question, search, err);
    if (status == RIDGE_OK) {
        search->runner = banks_runner_create(question->tile);
        if (search->runner == NULL)
            status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < question->pattern_count && status == RIDGE_OK; i++)
        status = find_steps(&question->patterns[i], question->tile, &search->steps[i], err);
    if (status == RIDGE_OK) {
        try_given(search);
        try_all(search);
    }
    for (size_t i = 0; i < question->pattern_count && status == RIDGE_OK; i++)
        status = find_floor(search, i, err);
    if (status == RIDGE_OK) {
        *count = gather(search, candidates, capacity);
        *out = search->solution;
    }
    for (size_t i = 0; i < RIDGE_BANKS_MOST_PATTERNS; i++)
        ridge_free(search->steps[i].elements);
    banks_runner_free(search->runner);
    ridge_free(search);
    return status;
}
