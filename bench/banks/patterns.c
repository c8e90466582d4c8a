/* SPDX-License-Identifier: Apache-2.0
 *
 * The cases that hold the bank model against the hardware, one a line, separated by tabs:
 *
 *     name  access  lanes (hexadecimal mask)  32 byte addresses, separated by blanks  sources
 *
 * Sources are 32 byte offsets in global memory for cp.async, which writes line by line as the data
 * comes; "-" is each lane its own place, side by side.
 *
 * Every width of every instruction walks strides, paddings, swizzles, broadcasts, masks and random
 * addresses. The addresses are written here from scratch, without the library, and the random ones
 * come from a fixed seed: the file is always the same. `patterns` prints it. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 32, SHARED_BYTES = 48 * 1024 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ALL UINT32_C(0xffffffff)

static const struct access {
    const char *name;
    uint32_t width; /* alignment and extent of a lane's address */
    bool matrix;    /* all lanes take part */
    unsigned thin;  /* one case in so many is kept; 0: all */
} accesses[] = {
    {"ld.1", 1, false, 2},
    {"ld.2", 2, false, 2},
    {"ld.4", 4, false, 0},
    {"ld.8", 8, false, 0},
    {"ld.16", 16, false, 0},
    {"st.1", 1, false, 2},
    {"st.2", 2, false, 2},
    {"st.4", 4, false, 0},
    {"st.8", 8, false, 0},
    {"st.16", 16, false, 0},
    {"cp.async.4", 4, false, 0},
    {"cp.async.8", 8, false, 0},
    {"cp.async.16", 16, false, 0},
    {"ldmatrix.x1", 16, true, 2},
    {"ldmatrix.x2", 16, true, 2},
    {"ldmatrix.x4", 16, true, 0},
    {"ldmatrix.x1.trans", 16, true, 4},
    {"ldmatrix.x2.trans", 16, true, 4},
    {"ldmatrix.x4.trans", 16, true, 4},
    {"stmatrix.x1", 16, true, 3},
    {"stmatrix.x2", 16, true, 2},
    {"stmatrix.x4", 16, true, 0},
    {"stmatrix.x1.trans", 16, true, 4},
    {"stmatrix.x2.trans", 16, true, 4},
    {"stmatrix.x4.trans", 16, true, 4},
};

/* Steele, Lea, Flood: splitmix64. */
static uint64_t random_state = 20260101;

static uint32_t random_below(uint32_t limit)
{
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ x >> 31) >> 33) % limit;
}

static bool is_legal(const struct access *access, const uint32_t address[LANES])
{
    for (int lane = 0; lane < LANES; lane++) /* what cannot be launched is no case */
        if (address[lane] % access->width != 0 || address[lane] + access->width > SHARED_BYTES)
            return false;
    return true;
}

static void print_numbers(const uint32_t number[LANES])
{
    for (int lane = 0; lane < LANES; lane++)
        printf("%s%" PRIu32, lane > 0 ? " " : "", number[lane]);
}

static void emit_from(const struct access *access, const char *name, uint32_t lanes,
                      const uint32_t address[LANES], const uint32_t source[LANES])
{
    if (!is_legal(access, address))
        return;
    printf("%s\t%s\t%08" PRIx32 "\t", name, access->name, lanes);
    print_numbers(address);
    printf("\t");
    if (source != NULL)
        print_numbers(source);
    else
        printf("-");
    printf("\n");
}

/* Of an access, to thin them out. */
static unsigned case_number;

static void emit(const struct access *access, const char *name, uint32_t lanes,
                 const uint32_t address[LANES])
{
    if (access->thin == 0 || case_number++ % access->thin == 0)
        emit_from(access, name, lanes, address, NULL);
}

/* -- each lane its own row ---------------------------------------------------------------------- */

static const uint32_t strides[] = {1,   2,   4,   8,   12,  16,  20,  24,  32,  40,  48,   64,
                                   66,  72,  80,  96,  112, 128, 130, 132, 136, 144, 160,  192,
                                   256, 258, 260, 264, 272, 288, 384, 512, 520, 528, 1024, 1040};

static void emit_strides(const struct access *access)
{
    for (size_t i = 0; i < COUNT(strides); i++) {
        uint32_t address[LANES];
        char name[48];

        if (strides[i] < access->width)
            continue;
        for (uint32_t lane = 0; lane < LANES; lane++)
            address[lane] = lane * strides[i];
        snprintf(name, sizeof(name), "stride %" PRIu32, strides[i]);
        emit(access, name, ALL, address);
    }
}

/* -- several lanes the same address ------------------------------------------------------------- */

/* The unit that a lane takes; times the stride it is an address. */
static uint32_t all_same(uint32_t lane)
{
    return lane & 0;
}
static uint32_t pairs(uint32_t lane)
{
    return lane / 2;
}
static uint32_t fours(uint32_t lane)
{
    return lane / 4;
}
static uint32_t eights(uint32_t lane)
{
    return lane / 8;
}
static uint32_t halves(uint32_t lane)
{
    return lane / 16;
}
static uint32_t without_bit_0(uint32_t lane)
{
    return lane & ~1u;
}
static uint32_t without_bit_1(uint32_t lane)
{
    return lane & ~2u;
}
static uint32_t without_bit_2(uint32_t lane)
{
    return lane & ~4u;
}
static uint32_t without_bit_3(uint32_t lane)
{
    return lane & ~8u;
}
static uint32_t without_bit_4(uint32_t lane)
{
    return lane & ~16u;
}
static uint32_t reversed(uint32_t lane)
{
    return 31 - lane;
}
static uint32_t modulo_3(uint32_t lane)
{
    return lane % 3;
}
static uint32_t swapped_halves(uint32_t lane)
{
    return lane ^ 16;
}
static uint32_t interleaved(uint32_t lane)
{
    return lane % 2 * 16 + lane / 2;
}

static const struct spread {
    const char *name;
    uint32_t (*unit)(uint32_t lane);
} spreads[] = {
    {"all lanes the same", all_same},
    {"pairs of lanes", pairs},
    {"fours of lanes", fours},
    {"eights of lanes", eights},
    {"half-warps", halves},
    {"lane and lane^1", without_bit_0},
    {"lane and lane^2", without_bit_1},
    {"lane and lane^4", without_bit_2},
    {"lane and lane^8", without_bit_3},
    {"lane and lane^16", without_bit_4},
    {"reversed", reversed},
    {"lane modulo 3", modulo_3},
    {"swapped halves", swapped_halves},
    {"interleaved halves", interleaved},
};

static void emit_spreads(const struct access *access)
{
    static const uint32_t steps[] = {0, 128}; /* 0: the width */

    for (size_t i = 0; i < COUNT(spreads); i++)
        for (size_t j = 0; j < COUNT(steps); j++) {
            const uint32_t step = steps[j] == 0 ? access->width : steps[j];
            uint32_t address[LANES];
            char name[64];

            for (uint32_t lane = 0; lane < LANES; lane++)
                address[lane] = spreads[i].unit(lane) * step;
            snprintf(name, sizeof(name), "%s, step %" PRIu32, spreads[i].name, step);
            emit(access, name, ALL, address);
        }
}

/* -- some lanes only ---------------------------------------------------------------------------- */

static const uint32_t masks[] = {
    0x00000001, 0x80000000, 0x00010001, 0x000000ff, 0x0000ffff, 0xffff0000,
    0x00ffff00, 0x55555555, 0xaaaaaaaa, 0x33333333, 0x0f0f0f0f, 0x00ff00ff,
    0x11111111, 0x01010101, 0xfffffffe, 0x7fffffff, 0x0000fff7, 0x9d2c5680,
};

static void emit_masks(const struct access *access)
{
    const uint32_t steps[] = {access->width, 128};

    for (size_t i = 0; i < COUNT(masks); i++)
        for (size_t j = 0; j < COUNT(steps); j++) {
            uint32_t address[LANES];
            char name[64];

            for (uint32_t lane = 0; lane < LANES; lane++)
                address[lane] = lane * steps[j];
            snprintf(name, sizeof(name), "some lanes, step %" PRIu32, steps[j]);
            emit(access, name, masks[i], address);
        }
}

/* -- tiles -------------------------------------------------------------------------------------- */

/* Byte of column chunk of 16 in a row, exclusive-or swizzled: rows of 128, 64 and 32 bytes. */
static uint32_t swizzled(uint32_t row, uint32_t chunk, uint32_t row_bytes)
{
    const uint32_t rows_a_turn = 128 / row_bytes;
    const uint32_t chunks = row_bytes / 16;

    return row * row_bytes + (chunk ^ row / rows_a_turn % chunks) * 16;
}

static void emit_tiles(const struct access *access)
{
    static const uint32_t rows_bytes[] = {32, 64, 128};
    uint32_t address[LANES];
    char name[64];

    for (size_t i = 0; i < COUNT(rows_bytes); i++) {
        const uint32_t bytes = rows_bytes[i];

        for (uint32_t lane = 0; lane < LANES; lane++) /* down a column of the swizzled tile */
            address[lane] = swizzled(lane, 1, bytes);
        snprintf(name, sizeof(name), "swizzle of %" PRIu32 "-byte rows, a column", bytes);
        emit(access, name, ALL, address);
        for (uint32_t lane = 0; lane < LANES; lane++) /* along rows */
            address[lane] = swizzled(lane * 16 / bytes, lane % (bytes / 16), bytes);
        snprintf(name, sizeof(name), "swizzle of %" PRIu32 "-byte rows, rows", bytes);
        emit(access, name, ALL, address);
        for (uint32_t lane = 0; lane < LANES; lane++) /* a 16 x 32-byte block, as ldmatrix.x4 */
            address[lane] = swizzled(lane % 16, lane / 16, bytes);
        snprintf(name, sizeof(name), "swizzle of %" PRIu32 "-byte rows, 16 x 2 chunks", bytes);
        emit(access, name, ALL, address);
    }
    for (uint32_t lane = 0; lane < LANES; lane++) /* 8 x 8 tiles of 2-byte elements, 64 columns */
        address[lane] = (lane / 8 * 8 + 3) * 128 + lane % 8 * 16;
    emit(access, "8x8 tiles, a column of tiles", ALL, address);
    for (uint32_t lane = 0; lane < LANES; lane++)
        address[lane] = lane % 16 * 144 + lane / 16 * 16;
    emit(access, "16 x 2 chunks, rows of 144 bytes", ALL, address);
    for (uint32_t lane = 0; lane < LANES; lane++)
        address[lane] = lane % 16 * 256 + lane / 16 * 16;
    emit(access, "16 x 2 chunks, rows of 256 bytes", ALL, address);
    for (uint32_t lane = 0; lane < LANES; lane++) /* accumulator: groups of 4 lanes a row */
        address[lane] = lane / 4 * 256 + lane % 4 * access->width;
    emit(access, "fragment, rows of 256 bytes", ALL, address);
    for (uint32_t lane = 0; lane < LANES; lane++)
        address[lane] = lane / 4 * 272 + lane % 4 * access->width;
    emit(access, "fragment, rows of 272 bytes", ALL, address);
}

/* -- random ------------------------------------------------------------------------------------- */

static void emit_random(const struct access *access)
{
    static const uint32_t windows[] = {SHARED_BYTES, SHARED_BYTES, SHARED_BYTES, 4096,
                                       1024,         512,          256};

    for (size_t i = 0; i < COUNT(windows); i++)
        for (int masked = 0; masked < (access->matrix ? 1 : 2); masked++) {
            uint32_t address[LANES];
            char name[64];
            uint32_t lanes = ALL;

            for (int lane = 0; lane < LANES; lane++)
                address[lane] = random_below(windows[i] / access->width) * access->width;
            if (masked)
                lanes = random_below(UINT32_C(1) << 31) << 1 | 1;
            snprintf(name, sizeof(name), "random %zu in %" PRIu32 " bytes%s", i, windows[i],
                     masked ? ", some lanes" : "");
            emit(access, name, lanes, address);
        }
}

/* -- lanes that share an 8 or 16-byte vector ---------------------------------------------------- */

static uint32_t without_bit(uint32_t lane, unsigned bit)
{
    return lane >> (bit + 1) << bit | (lane & ((UINT32_C(1) << bit) - 1));
}

static void shuffle(uint32_t *units, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t other = random_below(i);
        const uint32_t unit = units[i - 1];

        units[i - 1] = units[other];
        units[other] = unit;
    }
}

static void emit_units(const struct access *access, const char *name, uint32_t lanes,
                       const uint32_t unit[LANES])
{
    uint32_t address[LANES];

    for (int lane = 0; lane < LANES; lane++)
        address[lane] = unit[lane] * access->width;
    emit(access, name, lanes, address);
}

/* Lanes that differ in one bit share, side by side or at random places. */
static void emit_shared_pairs(const struct access *access)
{
    static const uint32_t some[] = {0x00010001, 0x00030003, 0x33333333, 0x0f0f0f0f, 0x55555555,
                                    0xfffffffe, 0xfffffffc, 0x0000ffff, 0x000000ff, 0x00ff00ff,
                                    0xffff0000, 0xfffefffe, 0x7fffffff, 0xffff7fff};
    char name[64];

    for (unsigned bit = 0; bit < 5; bit++)
        for (int form = 0; form < 4; form++) {
            uint32_t unit[LANES], place[LANES / 2];

            for (uint32_t i = 0; i < LANES / 2; i++)
                place[i] = i;
            if (form > 0)
                shuffle(place, LANES / 2);
            for (uint32_t lane = 0; lane < LANES; lane++)
                unit[lane] = place[without_bit(lane, bit)] * (form == 3 ? 5 : 1);
            snprintf(name, sizeof(name), "lane^%u shares, form %d", 1u << bit, form);
            emit_units(access, name, ALL, unit);
            for (size_t i = 0; bit < 2 && form == 0 && i < COUNT(some); i++) {
                snprintf(name, sizeof(name), "lane^%u shares, some lanes", 1u << bit);
                emit_units(access, name, some[i], unit);
            }
        }
}

/* One lane takes another unit; or one half or quarter of the warp shares and the rest does not. */
static void emit_broken_pairs(const struct access *access)
{
    char name[64];

    for (unsigned bit = 0; bit < 2; bit++)
        for (uint32_t part = 0; part < 14; part++) {
            uint32_t unit[LANES];

            for (uint32_t lane = 0; lane < LANES; lane++) {
                const bool shares =
                    part < 8 || lane / 8 == part - 8 || (part >= 12 && lane / 16 == part - 12);

                unit[lane] = shares ? without_bit(lane, bit) : lane;
            }
            if (part < 8)
                unit[part * 4 + part % 4] ^= part < 4 ? 1 : 16;
            snprintf(name, sizeof(name),
                     part < 8 ? "lane^%u shares but one, %u" : "lane^%u shares in part %u",
                     1u << bit, (unsigned)part);
            emit_units(access, name, ALL, unit);
        }
}

/* Any lanes share: few different units at random. */
static void emit_few_units(const struct access *access)
{
    static const uint32_t counts[] = {1, 2, 3, 4, 6, 8, 12, 16};
    char name[64];

    for (size_t i = 0; i < COUNT(counts); i++)
        for (int form = 0; form < 4; form++) {
            uint32_t unit[LANES], lanes = ALL;

            for (uint32_t lane = 0; lane < LANES; lane++)
                unit[lane] = random_below(counts[i]) * (form == 1 ? 9 : 1);
            if (form == 2)
                lanes = random_below(UINT32_C(1) << 31) << 1 | 1;
            for (uint32_t lane = 0; form == 3 && lane < LANES; lane += 2)
                unit[lane + 1] = unit[lane];
            snprintf(name, sizeof(name), "%" PRIu32 " different, form %d", counts[i], form);
            emit_units(access, name, lanes, unit);
        }
}

/* -- where cp.async reads ------------------------------------------------------------------------ */

static const char *const sources[] = {
    "lines side by side, 64 on",
    "one place",
    "reversed",
    "32 apart",
    "64 apart",
    "128 apart",
    "rows of 8 lanes, 256 apart",
    "half-warps, 1024 apart",
    "shuffled",
    "shuffled in eights",
};

static void fill_source(size_t kind, uint32_t width, uint32_t source[LANES])
{
    uint32_t place[LANES];

    for (uint32_t i = 0; i < LANES; i++)
        place[i] = i;
    if (kind == 8)
        shuffle(place, LANES);
    for (uint32_t i = 0; kind == 9 && i < LANES; i += 8)
        shuffle(place + i, 8);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t rows[] = {place[lane] * width + 64,
                                 0,
                                 (31 - lane) * width,
                                 lane * 32,
                                 lane * 64,
                                 lane * 128,
                                 lane / 8 * 256 + lane % 8 * width,
                                 lane / 16 * 1024 + lane % 16 * width,
                                 place[lane] * width,
                                 place[lane] * width};

        source[lane] = rows[kind];
    }
}

static void emit_sources(const struct access *access)
{
    for (size_t kind = 0; kind < COUNT(sources); kind++)
        for (int target = 0; target < 10; target++) {
            uint32_t source[LANES], address[LANES];
            char name[80];

            fill_source(kind, access->width, source);
            for (uint32_t lane = 0; lane < LANES; lane++) {
                const uint32_t targets[] = {lane * access->width,
                                            lane * 128,
                                            lane * 144,
                                            lane / 2 * access->width,
                                            swizzled(lane / 8, lane % 8, 128),
                                            0,
                                            lane * 32,
                                            lane * 272,
                                            lane / 8 * 144 + lane % 8 * 16,
                                            (lane * 7 + 3) % 32 * access->width};

                address[lane] = targets[target];
            }
            snprintf(name, sizeof(name), "from %s, to form %d", sources[kind], target);
            emit_from(access, name, ALL, address, source);
        }
}

/* The same case again: is the counter the same every time? */
static void emit_again(const struct access *access)
{
    for (int i = 0; i < 8; i++) {
        uint32_t address[LANES];

        for (uint32_t lane = 0; lane < LANES; lane++)
            address[lane] = i % 2 == 0 ? lane * 64 : lane / 8 * 16;
        emit_from(access, "again", ALL, address, NULL);
    }
}

static bool is_copy(const struct access *access)
{
    return strncmp(access->name, "cp.async", 8) == 0;
}

int main(void)
{
    for (size_t i = 0; i < COUNT(accesses); i++) {
        case_number = 0;
        emit_strides(&accesses[i]);
        emit_spreads(&accesses[i]);
        if (!accesses[i].matrix)
            emit_masks(&accesses[i]);
        emit_tiles(&accesses[i]);
        emit_random(&accesses[i]);
        if (accesses[i].width >= 8 && !accesses[i].matrix && !is_copy(&accesses[i])) {
            emit_shared_pairs(&accesses[i]);
            emit_broken_pairs(&accesses[i]);
            emit_few_units(&accesses[i]);
        }
        if (is_copy(&accesses[i])) {
            emit_sources(&accesses[i]);
            emit_again(&accesses[i]);
        }
    }
    return ferror(stdout) || fflush(stdout) != 0;
}
