/* SPDX-License-Identifier: Apache-2.0
 *
 * cp.async of 16 bytes (LDGSTS.BYPASS): data comes from L2 and goes into shared memory without
 * passing the banks' pipe, a piece of 128 bytes at a time. What Nsight Compute counts for it was
 * found by measuring (an H200, 159 of 159 cases, bench/results/bank_wavefronts.md):
 *
 * - A wavefront moves from one source line of 128 bytes to one target line.
 * - The unit is a sector of 32 bytes, two 16-byte halves. In a wavefront each source sector goes to
 *   one target sector and each target sector comes from one.
 * - All sectors of a wavefront move alike: both halves in place, both exchanged, or the same single
 *   half to the same half; and all or none change between even and odd places.
 * - Lanes that write the same 16 bytes are one, the first.
 *
 * So a whole line costs one wavefront, plain or exclusive-or swizzled; rows that do not begin with
 * a line of their own are cut in two, or more when the shift is no multiple of a sector. */
#include <string.h>

#include "banks/banks_internal.h"

enum { LANES = RIDGE_BANKS_LANES, HALF_BYTES = 16, HALVES_A_LINE = 8, SECTORS = 4 };

/* How the halves of a sector move: a bit for each pair of source and target half. */
enum motion { IN_PLACE = 1 << 0 | 1 << 3, EXCHANGED = 1 << 1 | 1 << 2 };

/* Lanes that move from one sector to one, alike. */
struct move {
    uint32_t source_line, target_line;
    int source, target; /* sectors in their lines */
    int halves;         /* a set of bits, see enum motion */
    uint32_t lanes;
    int wavefront; /* -1: not yet */
};

struct moves {
    struct move move[LANES];
    int count;
};

static bool is_motion(int halves)
{
    return halves == IN_PLACE || halves == EXCHANGED;
}

/* A second half that completes a motion joins the first. */
static bool joins(const struct move *move, const struct move *half)
{
    return move->source_line == half->source_line && move->target_line == half->target_line &&
           move->source == half->source && move->target == half->target &&
           is_motion(move->halves | half->halves) && (move->halves & half->halves) == 0;
}

static void add_lane(struct moves *moves, int lane, uint32_t source_bytes, uint32_t address_bytes)
{
    const uint32_t source = source_bytes / HALF_BYTES, target = address_bytes / HALF_BYTES;
    const struct move half = {
        .source_line = source / HALVES_A_LINE,
        .target_line = target / HALVES_A_LINE,
        .source = (int)(source % HALVES_A_LINE / 2),
        .target = (int)(target % HALVES_A_LINE / 2),
        .halves = 1 << (source % 2 * 2 + target % 2),
        .lanes = UINT32_C(1) << lane,
        .wavefront = -1,
    };

    for (int i = 0; i < moves->count; i++)
        if (joins(&moves->move[i], &half)) {
            moves->move[i].halves |= half.halves;
            moves->move[i].lanes |= half.lanes;
            return;
        }
    moves->move[moves->count++] = half;
}

/* May two moves share a wavefront? Their sectors aside. */
static bool are_alike(const struct move *a, const struct move *b)
{
    return a->source_line == b->source_line && a->target_line == b->target_line &&
           a->halves == b->halves && ((a->source ^ a->target ^ b->source ^ b->target) & 1) == 0;
}

static bool collide(const struct move *a, const struct move *b)
{
    return a->source == b->source || a->target == b->target;
}

/* How many wavefronts the moves like the first take. Sources and targets are a bipartite graph of
 * which each wavefront is a matching: as few do as the busiest sector has moves (Koenig). */
static int busiest_sector(const struct moves *moves, const struct move *first)
{
    int at_source[SECTORS] = {0}, at_target[SECTORS] = {0};
    int most = 0;

    for (int i = 0; i < moves->count; i++) {
        const struct move *const move = &moves->move[i];

        if (!are_alike(move, first))
            continue;
        at_source[move->source]++;
        at_target[move->target]++;
        most = at_source[move->source] > most ? at_source[move->source] : most;
        most = at_target[move->target] > most ? at_target[move->target] : most;
    }
    return most;
}

/* Spreads the moves like the first over count wavefronts from base on. A move may have to make room,
 * so assignments are tried in turn: of at most 8 moves, 2 x 2 in each of two parities. */
static bool place(struct moves *moves, int index, const struct move *first, int base, int count)
{
    while (index < moves->count && !are_alike(&moves->move[index], first))
        index++;
    if (index == moves->count)
        return true;
    for (int w = base; w < base + count; w++) {
        bool is_free = true;

        for (int i = 0; i < index && is_free; i++)
            is_free =
                !(moves->move[i].wavefront == w && collide(&moves->move[i], &moves->move[index]));
        if (!is_free)
            continue;
        moves->move[index].wavefront = w;
        if (place(moves, index + 1, first, base, count))
            return true;
        moves->move[index].wavefront = -1;
    }
    return false;
}

/* The first lane that writes the same 16 bytes. */
static int first_writer(const uint32_t address_bytes[LANES], uint32_t lanes, int lane)
{
    for (int i = 0; i < lane; i++)
        if ((lanes >> i & 1) != 0 && address_bytes[i] == address_bytes[lane])
            return i;
    return lane;
}

uint32_t banks_writers(const uint32_t address_bytes[LANES], uint32_t lanes)
{
    uint32_t writers = 0;

    for (int lane = 0; lane < LANES; lane++)
        if ((lanes >> lane & 1) != 0 && first_writer(address_bytes, lanes, lane) == lane)
            writers |= UINT32_C(1) << lane;
    return writers;
}

int banks_copies(const uint32_t address_bytes[LANES], const uint32_t source_bytes[LANES],
                 uint32_t lanes, int wavefront_of[LANES])
{
    const uint32_t writers = banks_writers(address_bytes, lanes);
    struct moves moves = {.count = 0};
    int count = 0;

    memset(wavefront_of, 0, LANES * sizeof(*wavefront_of));
    for (int lane = 0; lane < LANES; lane++)
        if ((writers >> lane & 1) != 0)
            add_lane(&moves, lane, source_bytes[lane], address_bytes[lane]);
    for (int i = 0; i < moves.count; i++)
        if (moves.move[i].wavefront < 0) {
            const int more = busiest_sector(&moves, &moves.move[i]);

            place(&moves, 0, &moves.move[i], count, more);
            count += more;
        }
    for (int i = 0; i < moves.count; i++)
        for (int lane = 0; lane < LANES; lane++)
            if ((moves.move[i].lanes >> lane & 1) != 0)
                wavefront_of[lane] = moves.move[i].wavefront;
    for (int lane = 0; lane < LANES; lane++)
        if ((lanes >> lane & 1) != 0)
            wavefront_of[lane] = wavefront_of[first_writer(address_bytes, lanes, lane)];
    return count;
}
