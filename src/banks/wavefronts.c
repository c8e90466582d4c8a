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

/* This function alone knows the rule: that of the CUDA programming guide, fixed lanes of up to 128
 * bytes together. */
int banks_phases(const ridge_bank_access *access, const uint32_t address_bytes[LANES],
                 uint32_t lanes, int phase_of[LANES])
{
    const int width_bytes = access->width_bytes;
    const int phase_lanes = width_bytes <= WORD_BYTES ? LANES : PHASE_BYTES / width_bytes;

    (void)address_bytes;
    (void)lanes;
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

/* The different words of a phase. */
struct phase {
    uint32_t word[MOST_WORDS];
    uint32_t lanes[MOST_WORDS]; /* that want the word */
    int wavefront[MOST_WORDS];  /* that serves it, from 0 */
    int word_count;
    int words_in[BANKS];
};

static void add_word(struct phase *phase, uint32_t word, int lane)
{
    int i = 0;

    while (i < phase->word_count && phase->word[i] != word)
        i++;
    if (i == phase->word_count) {
        assert(phase->word_count < MOST_WORDS);
        phase->word_count++;
        phase->word[i] = word;
        phase->lanes[i] = 0;
        phase->wavefront[i] = phase->words_in[word % BANKS]++;
    }
    phase->lanes[i] |= UINT32_C(1) << lane;
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
    return most;
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
        draw_phase(phase, count->ideal, wavefronts, map);
    count->phase_wavefronts[count->ideal++] = wavefronts;
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

ridge_status ridge_banks_simulate(const ridge_bank_access *access,
                                  const uint32_t address_bytes[RIDGE_BANKS_LANES], uint32_t lanes,
                                  ridge_bank_count *out, ridge_bank_map *map, ridge_error *err)
{
    ridge_bank_count count = {.worst_bank = -1};
    int phase_of[LANES], phase_count;
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

    phase_count = banks_phases(access, address_bytes, lanes, phase_of);
    assert(phase_count <= RIDGE_BANKS_MOST_PHASES);
    for (int i = 0; i < phase_count; i++) {
        struct phase phase = {.word_count = 0};

        for (int lane = 0; lane < LANES; lane++)
            if (phase_of[lane] == i && (lanes >> lane & 1) != 0)
                for (int byte = 0; byte < access->width_bytes; byte += WORD_BYTES)
                    add_word(&phase, (address_bytes[lane] + (uint32_t)byte) / WORD_BYTES, lane);
        count_phase(&phase, &count, map);
    }
    *out = count;
    return RIDGE_OK;
}

ridge_status ridge_banks_count(const uint32_t address_bytes[RIDGE_BANKS_LANES], uint32_t lanes,
                               int width_bytes, ridge_bank_count *out, ridge_error *err)
{
    const ridge_bank_access load = {.op = RIDGE_BANK_LOAD, .width_bytes = width_bytes};

    return ridge_banks_simulate(&load, address_bytes, lanes, out, NULL, err);
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
