/* SPDX-License-Identifier: Apache-2.0
 *
 * The bank model: an access is cut into phases, the words of a phase are sorted into banks, equal
 * words count once, and the fullest bank tells how many wavefronts the phase takes. The rule for
 * 8 and 16 byte accesses (half and quarter warps) is that of the CUDA programming guide; ldmatrix
 * follows it with one 16-byte row a lane. */
#include "ridge/banks.h"

#include <assert.h>

enum { BANKS = 32, WORD_BYTES = 4, PHASE_BYTES = BANKS * WORD_BYTES };

static bool is_width(int bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

/* The lanes of a phase, as different words. */
struct phase {
    uint32_t words[BANKS];
    int word_count;
};

static void add_word(struct phase *phase, uint32_t word)
{
    for (int i = 0; i < phase->word_count; i++)
        if (phase->words[i] == word)
            return;
    assert(phase->word_count < BANKS);
    phase->words[phase->word_count++] = word;
}

/* Wavefronts of the phase, and the first bank that needs them all. */
static int fullest_bank(const struct phase *phase, int *bank)
{
    int words_in[BANKS] = {0};
    int most = 0;

    for (int i = 0; i < phase->word_count; i++)
        words_in[phase->words[i] % BANKS]++;
    for (int i = 0; i < BANKS; i++)
        if (words_in[i] > most) {
            most = words_in[i];
            *bank = i;
        }
    return most;
}

ridge_status ridge_banks_count(const uint32_t address_bytes[RIDGE_BANKS_LANES], uint32_t lanes,
                               int width_bytes, ridge_bank_count *out, ridge_error *err)
{
    ridge_bank_count count = {.worst_bank = -1};
    int phase_lanes;

    *out = (ridge_bank_count){.worst_bank = -1};
    if (!is_width(width_bytes))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "an access of %d bytes a lane, expected 1, 2, 4, 8 or 16", width_bytes);

    phase_lanes = width_bytes <= WORD_BYTES ? RIDGE_BANKS_LANES : PHASE_BYTES / width_bytes;
    for (int first = 0; first < RIDGE_BANKS_LANES; first += phase_lanes) {
        struct phase phase = {.word_count = 0};
        int bank = -1, wavefronts;

        for (int lane = first; lane < first + phase_lanes; lane++) {
            if ((lanes >> lane & 1) == 0)
                continue;
            if (address_bytes[lane] % (uint32_t)width_bytes != 0)
                return ridge_fail(err, RIDGE_ERR_MISALIGNED,
                                  "lane %d: address %u is no multiple of the %d bytes accessed",
                                  lane, (unsigned)address_bytes[lane], width_bytes);
            for (int byte = 0; byte < width_bytes; byte += WORD_BYTES)
                add_word(&phase, (address_bytes[lane] + (uint32_t)byte) / WORD_BYTES);
        }
        wavefronts = fullest_bank(&phase, &bank);
        count.wavefronts += wavefronts;
        count.ideal += wavefronts > 0;
        if (wavefronts > count.degree) {
            count.degree = wavefronts;
            count.worst_bank = bank;
        }
    }
    *out = count;
    return RIDGE_OK;
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

uint32_t ridge_banks_swizzle(uint32_t offset_bytes, int bit_count, int first_bit, int distance)
{
    const uint64_t mask = ((UINT64_C(1) << bit_count) - 1) << first_bit;

    assert(bit_count >= 0 && first_bit >= 0 && distance >= 0);
    assert(bit_count + first_bit + distance <= 32);
    return offset_bytes ^ (uint32_t)((uint64_t)offset_bytes >> distance & mask);
}
