/* SPDX-License-Identifier: Apache-2.0
 *
 * The bank model: an access is cut into phases, the words of a phase are sorted into banks, equal
 * words count once, and the fullest bank tells how many wavefronts the phase takes. */
#include "ridge/banks.h"

#include <assert.h>
#include <string.h>

#include "banks/banks_internal.h"

enum {
    LANES = RIDGE_BANKS_LANES,
    BANKS = RIDGE_BANKS_COUNT,
    WORD_BYTES = RIDGE_BANKS_WORD_BYTES,
    PHASE_BYTES = BANKS * WORD_BYTES,
    MOST_WORDS = LANES * 16 / WORD_BYTES
};

static bool is_width(int bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

bool banks_pairs_agree(const uint32_t address_bytes[LANES], uint32_t lanes, int bit)
{
    for (int lane = 0; lane < LANES; lane++) {
        const int other = lane ^ bit;

        if ((lanes >> lane & 1) != 0 && (lanes >> other & 1) != 0 &&
            address_bytes[lane] != address_bytes[other])
            return false;
    }
    return true;
}

/* This function alone knows the rule: fixed lanes of up to 128 bytes together, as the CUDA
 * programming guide says; of a load twice as many where pairs agree, so that they have half as many
 * bytes. Measured: the counter of an H200's data pipe in 533 of 533 loads of 8 and 16 bytes. */
int banks_phases(const ridge_bank_access *access, const uint32_t address_bytes[LANES],
                 uint32_t lanes, int phase_of[LANES])
{
    const int width_bytes = access->width_bytes;
    int phase_lanes = width_bytes <= WORD_BYTES ? LANES : PHASE_BYTES / width_bytes;

    if (access->op == RIDGE_BANK_LOAD && phase_lanes < LANES &&
        (banks_pairs_agree(address_bytes, lanes, 1) || banks_pairs_agree(address_bytes, lanes, 2)))
        phase_lanes *= 2;
    for (int lane = 0; lane < LANES; lane++)
        phase_of[lane] = lane / phase_lanes;
    return LANES / phase_lanes;
}

uint32_t banks_lanes(const ridge_bank_access *access, uint32_t lanes)
{
    return access->matrix_count == 1 || access->matrix_count == 2
               ? lanes & ((UINT32_C(1) << 8 * access->matrix_count) - 1)
               : lanes;
}

/* The different words of a phase. What is of a word is set when the word is added: a search for
 * layouts makes millions of these. */
struct phase {
    int word_count;
    int words_in[BANKS];
    int sources_in[BANKS]; /* words that a cp.async reads */
    int newest[BANKS];     /* word of the bank, from 1; 0: none */
    uint32_t word[MOST_WORDS];
    uint32_t lanes[MOST_WORDS]; /* that want the word */
    int wavefront[MOST_WORDS];  /* that serves it, from 0 */
    int older[MOST_WORDS];      /* the one before of the same bank, as newest */
};

static void begin_phase(struct phase *phase)
{
    memset(phase, 0, offsetof(struct phase, word));
}

/* Equal words are one, unless each lane writes its own. */
static void add_word(struct phase *phase, uint32_t word, int lane, bool is_own)
{
    const uint32_t bank = word % BANKS;
    int i = is_own ? 0 : phase->newest[bank];

    while (i > 0 && phase->word[i - 1] != word)
        i = phase->older[i - 1];
    if (i == 0) {
        assert(phase->word_count < MOST_WORDS);
        i = ++phase->word_count;
        phase->word[i - 1] = word;
        phase->lanes[i - 1] = 0;
        phase->wavefront[i - 1] = phase->words_in[bank]++;
        phase->older[i - 1] = phase->newest[bank];
        phase->newest[bank] = i;
    }
    phase->lanes[i - 1] |= UINT32_C(1) << lane;
}

/* Wavefronts of the phase, and the first bank that needs them all. */
static int fullest_bank(const struct phase *phase, int *bank)
{
    int most = 0;

    for (int i = 0; i < BANKS; i++)
        if (phase->words_in[i] > most) {
            most = phase->words_in[i];
            *bank = i;
        }
    for (int i = 0; i < BANKS; i++)
        most = phase->sources_in[i] > most ? phase->sources_in[i] : most;
    return most;
}

int banks_phase_wavefronts(int width_bytes, const uint32_t address_bytes[LANES], uint32_t lanes)
{
    struct phase phase;
    int bank;

    begin_phase(&phase);
    for (int lane = 0; lane < LANES; lane++)
        for (int byte = 0; (lanes >> lane & 1) != 0 && byte < width_bytes; byte += WORD_BYTES)
            add_word(&phase, (address_bytes[lane] + (uint32_t)byte) / WORD_BYTES, lane, false);
    return fullest_bank(&phase, &bank);
}

static void draw_phase(const struct phase *phase, int index, int wavefronts, ridge_bank_map *map)
{
    for (int i = 0; i < phase->word_count; i++) {
        const int row = map->wavefront_count + phase->wavefront[i];
        const uint32_t bank = phase->word[i] % BANKS;

        map->lanes[row][bank] = phase->lanes[i];
        map->word[row][bank] = phase->word[i];
    }
    for (int i = 0; i < wavefronts; i++)
        map->phase[map->wavefront_count++] = index;
}

static void count_phase(const struct phase *phase, ridge_bank_count *count, ridge_bank_map *map)
{
    int bank = -1;
    const int wavefronts = fullest_bank(phase, &bank);

    if (wavefronts == 0)
        return;
    if (map != NULL)
        draw_phase(phase, count->phase_count, wavefronts, map);
    count->phase_wavefronts[count->phase_count++] = wavefronts;
    count->wavefronts += wavefronts;
    if (wavefronts > count->degree) {
        count->degree = wavefronts;
        count->worst_bank = bank;
    }
}

static ridge_status check_alignment(const uint32_t address_bytes[LANES], uint32_t lanes,
                                    int width_bytes, ridge_error *err)
{
    for (int lane = 0; lane < LANES; lane++)
        if ((lanes >> lane & 1) != 0 && address_bytes[lane] % (uint32_t)width_bytes != 0)
            return ridge_fail(err, RIDGE_ERR_MISALIGNED,
                              "lane %d: address %u is no multiple of the %d bytes accessed", lane,
                              (unsigned)address_bytes[lane], width_bytes);
    return RIDGE_OK;
}

static ridge_status check_access(const ridge_bank_access *access, ridge_error *err)
{
    const bool is_matrix = access->op == RIDGE_BANK_LDMATRIX || access->op == RIDGE_BANK_STMATRIX;

    if (!is_width(access->width_bytes))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "an access of %d bytes a lane, expected 1, 2, 4, 8 or 16",
                          access->width_bytes);
    if (access->op == RIDGE_BANK_CP_ASYNC && access->width_bytes < 4)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "cp.async of %d bytes a lane, expected 4, 8 or 16", access->width_bytes);
    if (is_matrix && access->matrix_count != 1 && access->matrix_count != 2 &&
        access->matrix_count != 4)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%d matrices, expected 1, 2 or 4",
                          access->matrix_count);
    if (is_matrix && access->width_bytes != 16)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "rows of %d bytes in a matrix, expected 16", access->width_bytes);
    return RIDGE_OK;
}

/* Side by side. */
static void default_sources(int width_bytes, uint32_t source_bytes[LANES])
{
    for (int lane = 0; lane < LANES; lane++)
        source_bytes[lane] = (uint32_t)(lane * width_bytes);
}

static void simulate_phases(const ridge_bank_access *access, const uint32_t address_bytes[LANES],
                            const uint32_t source_bytes[LANES], uint32_t lanes,
                            ridge_bank_count *count, ridge_bank_map *map)
{
    const bool is_copy = access->op == RIDGE_BANK_CP_ASYNC;
    int phase_of[LANES];
    const int phase_count = banks_phases(access, address_bytes, lanes, phase_of);

    assert(phase_count <= RIDGE_BANKS_MOST_PHASES);
    for (int i = 0; i < phase_count; i++) {
        struct phase phase;

        begin_phase(&phase);
        for (int lane = 0; lane < LANES; lane++) {
            if (phase_of[lane] != i || (lanes >> lane & 1) == 0)
                continue;
            for (uint32_t byte = 0; byte < (uint32_t)access->width_bytes; byte += WORD_BYTES) {
                add_word(&phase, (address_bytes[lane] + byte) / WORD_BYTES, lane, is_copy);
                if (is_copy)
                    phase.sources_in[(source_bytes[lane] + byte) / WORD_BYTES % BANKS]++;
            }
        }
        count_phase(&phase, count, map);
    }
}

static void simulate_copies(const uint32_t address_bytes[LANES], const uint32_t source_bytes[LANES],
                            uint32_t lanes, ridge_bank_count *count, ridge_bank_map *map)
{
    int wavefront_of[LANES];

    count->wavefronts = banks_copies(address_bytes, source_bytes, lanes, wavefront_of);
    count->phase_count = count->wavefronts > 0;
    count->phase_wavefronts[0] = count->wavefronts;
    if (map == NULL)
        return;
    map->wavefront_count = count->wavefronts;
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; (lanes >> lane & 1) != 0 && i < 16 / WORD_BYTES; i++) {
            const uint32_t word = address_bytes[lane] / WORD_BYTES + (uint32_t)i;

            map->lanes[wavefront_of[lane]][word % BANKS] |= UINT32_C(1) << lane;
            map->word[wavefront_of[lane]][word % BANKS] = word;
        }
}

static int count_lanes(uint32_t lanes)
{
    int count = 0;

    for (; lanes != 0; lanes &= lanes - 1)
        count++;
    return count;
}

ridge_status ridge_banks_simulate(const ridge_bank_access *access,
                                  const uint32_t address_bytes[RIDGE_BANKS_LANES],
                                  const uint32_t *source_bytes, uint32_t lanes,
                                  ridge_bank_count *out, ridge_bank_map *map, ridge_error *err)
{
    ridge_bank_count count = {.worst_bank = -1};
    uint32_t side_by_side[LANES];
    ridge_status status;

    *out = (ridge_bank_count){.worst_bank = -1};
    if (map != NULL)
        memset(map, 0, sizeof(*map));
    status = check_access(access, err);
    if (status != RIDGE_OK)
        return status;
    lanes = banks_lanes(access, lanes);
    status = check_alignment(address_bytes, lanes, access->width_bytes, err);
    if (status != RIDGE_OK)
        return status;
    if (source_bytes == NULL && access->op == RIDGE_BANK_CP_ASYNC) {
        default_sources(access->width_bytes, side_by_side);
        source_bytes = side_by_side;
    }
    if (access->op == RIDGE_BANK_CP_ASYNC && access->width_bytes == 16)
        simulate_copies(address_bytes, source_bytes, lanes, &count, map);
    else
        simulate_phases(access, address_bytes, source_bytes, lanes, &count, map);
    if (access->op == RIDGE_BANK_CP_ASYNC && access->width_bytes == 16)
        lanes = banks_writers(address_bytes, lanes);
    count.ideal = (count_lanes(lanes) * access->width_bytes + PHASE_BYTES - 1) / PHASE_BYTES;
    if (count.ideal > count.wavefronts)
        count.ideal = count.wavefronts;
    if (access->op == RIDGE_BANK_CP_ASYNC && access->width_bytes == 16 && count.ideal > 0)
        count.degree = (count.wavefronts + count.ideal - 1) / count.ideal;
    count.reported = access->op == RIDGE_BANK_LOAD && access->width_bytes >= 8
                         ? banks_reported(access->width_bytes, address_bytes, lanes)
                         : count.wavefronts;
    *out = count;
    return RIDGE_OK;
}

ridge_status ridge_banks_count(const uint32_t address_bytes[RIDGE_BANKS_LANES], uint32_t lanes,
                               int width_bytes, ridge_bank_count *out, ridge_error *err)
{
    const ridge_bank_access load = {.op = RIDGE_BANK_LOAD, .width_bytes = width_bytes};

    return ridge_banks_simulate(&load, address_bytes, NULL, lanes, out, NULL, err);
}

static ridge_status check_rows(const ridge_bank_rows *rows, ridge_error *err)
{
    const size_t most = UINT32_MAX / 16 / RIDGE_BANKS_LANES;

    if (!is_width(rows->element_bytes))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "elements of %d bytes, expected 1, 2, 4, 8 or 16", rows->element_bytes);
    if (rows->stride_elements > most - RIDGE_BANKS_LARGEST_PADDING)
        return ridge_fail(err, RIDGE_ERR_OVERFLOW, "rows of %zu elements, expected at most %zu",
                          rows->stride_elements, most - RIDGE_BANKS_LARGEST_PADDING);
    if (rows->column_elements > most)
        return ridge_fail(err, RIDGE_ERR_OVERFLOW, "column %zu, expected at most %zu",
                          rows->column_elements, most);
    return RIDGE_OK;
}

ridge_status ridge_banks_rows(const ridge_bank_rows *rows, ridge_bank_count *out, ridge_error *err)
{
    uint32_t address_bytes[RIDGE_BANKS_LANES];
    ridge_status status;

    *out = (ridge_bank_count){.worst_bank = -1};
    status = check_rows(rows, err);
    if (status != RIDGE_OK)
        return status;
    for (size_t lane = 0; lane < RIDGE_BANKS_LANES; lane++)
        address_bytes[lane] = (uint32_t)((lane * rows->stride_elements + rows->column_elements) *
                                         (size_t)rows->element_bytes);
    return ridge_banks_count(address_bytes, RIDGE_BANKS_ALL_LANES,
                             rows->width_bytes == 0 ? rows->element_bytes : rows->width_bytes, out,
                             err);
}

ridge_status ridge_banks_pad(const ridge_bank_rows *rows, ridge_bank_padding *paddings,
                             size_t capacity, size_t *count, ridge_error *err)
{
    ridge_bank_rows padded = *rows;
    ridge_bank_count before;
    ridge_status status;

    *count = 0;
    status = ridge_banks_rows(rows, &before, err);
    if (status != RIDGE_OK)
        return status;
    for (size_t added = 1; added <= RIDGE_BANKS_LARGEST_PADDING; added++) {
        ridge_bank_padding padding = {.added_elements = added};

        padded.stride_elements = padding.stride_elements = rows->stride_elements + added;
        status = ridge_banks_rows(&padded, &padding.count, NULL);
        if (status == RIDGE_ERR_MISALIGNED)
            continue;
        assert(status == RIDGE_OK);
        if (padding.count.wavefronts >= before.wavefronts)
            continue;
        padding.rows_16_aligned = padding.stride_elements * (size_t)rows->element_bytes % 16 == 0;
        if (*count < capacity)
            paddings[*count] = padding;
        (*count)++;
    }
    return RIDGE_OK;
}
