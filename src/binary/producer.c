/* SPDX-License-Identifier: Apache-2.0
 *
 * Which earlier instruction a stalled one waits for.
 *
 * An instruction of unknown latency (a load, MUFU, ...) raises one of six scoreboards until its
 * result arrives, and whoever needs the result names that scoreboard in its wait mask. So the code
 * says who waits for whom. The search walks backwards along every path into the instruction,
 * nearest first, with two sets: scoreboards still waited for, and registers that are read and have
 * no writer yet. An instruction on the way that waits for a scoreboard itself ends the search for
 * it: whatever had raised it before has arrived by then. At a loop head the back edge comes first,
 * since a loop body mostly waits for what its previous turn loaded, then what stands above.
 *
 * Every instruction is visited once and their number is limited, so that a call costs some
 * microseconds whatever the code. */
#include <string.h>

#include "binary/binary_internal.h"

enum {
    VISITS_MAX = 1024,  /* instructions looked at */
    WINDOW = 4096,      /* and they lie at most this far from the one that waits */
    PATHS_MAX = 16,     /* unexplored paths that are remembered */
    BRANCHES_MAX = 512, /* branches in the window */
    SCOREBOARDS = 6,
    ALWAYS = 7,         /* the predicate that is true */
    LOW_OPCODE = 0x1ff, /* bits that name the instruction, whatever its operands */
    LOW_BRA = 0x147,    /* the same for each of these */
    LOW_BRX = 0x149,
    LOW_JMP = 0x14a,
    LOW_EXIT = 0x14d,
    LOW_RET = 0x150,
    DEPBAR = 0x91a,        /* waits for the scoreboard in bits 44..46 */
    COMMIT_COPIES = 0x9af, /* LDGDEPBAR: raises one until the LDGSTS before it have arrived */
};

typedef struct register_set {
    uint64_t words[4];
} register_set;

/* What is still looked for at one point of a path. */
typedef struct search_path {
    size_t index;   /* the next instruction to look at */
    unsigned waits; /* scoreboards whose raiser may stand here or before; a bit each */
    register_set unwritten;
} search_path;

typedef struct branch_edge {
    size_t from, to;
} branch_edge;

typedef struct search {
    const uint8_t *code;
    int sm;
    size_t begin, end; /* the window of instructions */
    branch_edge branches[BRANCHES_MAX];
    size_t branch_count;
    uint64_t is_target[2 * WINDOW / 64 + 1]; /* a bit for each instruction of the window */
    uint64_t is_visited[2 * WINDOW / 64 + 1];
    size_t visit_count;
    search_path paths[PATHS_MAX]; /* a stack */
    size_t path_count;
    size_t *found; /* raised a scoreboard and wrote a register that is read, nearest first */
    size_t found_count, found_max;
    size_t raiser; /* the nearest that raised a scoreboard at all */
    bool has_raiser;
} search;

static const uint8_t *word_at(const search *s, size_t index)
{
    return s->code + index * SASS_BYTES;
}

static unsigned opcode_at(const search *s, size_t index)
{
    const uint8_t *const word = word_at(s, index);

    return word[0] | (word[1] & 0xfu) << 8;
}

static void decode_at(const search *s, size_t index, ridge_sass *out)
{
    /* Offsets beyond 32 bits only matter for branch targets, which then fall outside. */
    sass_decode_fields(word_at(s, index), (uint32_t)(index * SASS_BYTES), s->sm, out);
}

/* ---- sets of registers ---- */

static void set_add(register_set *set, ridge_registers range)
{
    unsigned i;

    for (i = range.first; i < (unsigned)range.first + range.count; i++)
        set->words[i / 64] |= UINT64_C(1) << i % 64;
}

static bool set_overlaps(const register_set *set, ridge_registers range)
{
    unsigned i;

    for (i = range.first; i < (unsigned)range.first + range.count; i++)
        if ((set->words[i / 64] >> i % 64 & 1) != 0)
            return true;
    return false;
}

static void set_remove(register_set *set, ridge_registers range)
{
    unsigned i;

    for (i = range.first; i < (unsigned)range.first + range.count; i++)
        set->words[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static bool set_is_empty(const register_set *set)
{
    return (set->words[0] | set->words[1] | set->words[2] | set->words[3]) == 0;
}

/* ---- control flow ---- */

static bool bitmap_get(const uint64_t *map, size_t index)
{
    return (map[index / 64] >> index % 64 & 1) != 0;
}

static void bitmap_set(uint64_t *map, size_t index)
{
    map[index / 64] |= UINT64_C(1) << index % 64;
}

static void find_branches(search *s)
{
    size_t i;

    for (i = s->begin; i < s->end && s->branch_count < BRANCHES_MAX; i++) {
        ridge_sass sass;
        size_t to;

        if ((opcode_at(s, i) & LOW_OPCODE) != LOW_BRA)
            continue;
        decode_at(s, i, &sass);
        if (!sass.is_branch || sass.branch_target < 0 || sass.branch_target % SASS_BYTES != 0)
            continue;
        to = (size_t)(sass.branch_target / SASS_BYTES);
        if (to < s->begin || to >= s->end)
            continue;
        s->branches[s->branch_count].from = i;
        s->branches[s->branch_count++].to = to;
        bitmap_set(s->is_target, to - s->begin);
    }
}

/* Whether execution can go from the instruction to the one behind it. */
static bool falls_through(const search *s, size_t index)
{
    const uint8_t *const word = word_at(s, index);
    const unsigned guard = word[1] >> 4;                             /* with the negation */
    const unsigned condition = word[10] >> 7 | (word[11] & 3u) << 1; /* bits 87..89: a predicate */

    switch (opcode_at(s, index) & LOW_OPCODE) {
    case LOW_BRA:
    case LOW_BRX:
    case LOW_JMP:
    case LOW_EXIT:
    case LOW_RET:
        return guard != ALWAYS || condition != ALWAYS;
    default:
        return true;
    }
}

static void push(search *s, const search_path *state, size_t index)
{
    if (s->path_count < PATHS_MAX && !bitmap_get(s->is_visited, index - s->begin)) {
        s->paths[s->path_count] = *state;
        s->paths[s->path_count++].index = index;
    }
}

/* Remembers every way into the instruction at state->index; the last one pushed is taken first. */
static void push_predecessors(search *s, const search_path *state)
{
    const size_t index = state->index;
    const bool is_target = bitmap_get(s->is_target, index - s->begin);
    size_t i;

    for (i = 0; is_target && i < s->branch_count; i++)
        if (s->branches[i].to == index && s->branches[i].from < index)
            push(s, state, s->branches[i].from);
    if (index > s->begin && falls_through(s, index - 1))
        push(s, state, index - 1);
    for (i = 0; is_target && i < s->branch_count; i++)
        if (s->branches[i].to == index && s->branches[i].from >= index)
            push(s, state, s->branches[i].from);
}

/* ---- the search ---- */

/* An instruction of the path: whether it is waited for, and what need not be looked for above. */
static void visit(search *s, search_path *state)
{
    const size_t index = state->index;
    ridge_sass sass;
    bool raises_result, raises_sources;

    decode_at(s, index, &sass);
    raises_result = sass.write_barrier < SCOREBOARDS && (state->waits >> sass.write_barrier & 1);
    raises_sources = sass.read_barrier < SCOREBOARDS && (state->waits >> sass.read_barrier & 1);
    if (raises_result && set_overlaps(&state->unwritten, sass.dest))
        s->found[s->found_count++] = index;
    if ((raises_result || raises_sources) && !s->has_raiser) {
        s->has_raiser = true;
        s->raiser = index;
    }
    if (sass.guard == ALWAYS && !sass.guard_negated)
        set_remove(&state->unwritten, sass.dest);
    state->waits &= ~(unsigned)sass.wait_mask;
}

static void run(search *s)
{
    while (s->path_count > 0 && s->found_count < s->found_max && s->visit_count < VISITS_MAX) {
        search_path state = s->paths[--s->path_count];

        if (bitmap_get(s->is_visited, state.index - s->begin))
            continue;
        bitmap_set(s->is_visited, state.index - s->begin);
        s->visit_count++;
        visit(s, &state);
        if (state.waits == 0 || (set_is_empty(&state.unwritten) && s->has_raiser))
            continue;
        push_predecessors(s, &state);
    }
}

static unsigned scoreboards_waited_for(const search *s, size_t index, const ridge_sass *sass)
{
    unsigned waits = sass->wait_mask;

    if (sass->opcode == DEPBAR)
        waits |= 1u << (word_at(s, index)[5] >> 4 & 7); /* bits 44..46 */
    return waits & ((1u << SCOREBOARDS) - 1);
}

/* The copy that LDGDEPBAR at an index stands for: the nearest before it. */
static size_t copy_before(const search *s, size_t index)
{
    size_t i;

    for (i = index; i > s->begin && index - i < VISITS_MAX; i--) {
        ridge_sass sass;

        decode_at(s, i - 1, &sass);
        if (sass.cls == RIDGE_SASS_ASYNC && sass.is_load)
            return i - 1;
    }
    return index;
}

size_t ridge_sass_producers(const uint8_t *code, size_t code_bytes, int sm, size_t index,
                            size_t *found, size_t found_max)
{
    const size_t count = code_bytes / SASS_BYTES;
    search s;
    search_path start;
    ridge_sass sass;
    size_t i;

    if (index >= count || found_max == 0)
        return 0;
    memset(&s, 0, sizeof(s));
    memset(&start, 0, sizeof(start));
    s.code = code;
    s.sm = sm;
    s.begin = index > WINDOW ? index - WINDOW : 0;
    s.end = count - index > WINDOW ? index + WINDOW : count;
    s.found = found;
    s.found_max = found_max;
    decode_at(&s, index, &sass);
    start.index = index;
    start.waits = scoreboards_waited_for(&s, index, &sass);
    for (i = 0; i < RIDGE_SASS_SOURCES; i++)
        set_add(&start.unwritten, sass.source[i]);
    if (start.waits == 0)
        return 0;

    find_branches(&s);
    push_predecessors(&s, &start);
    run(&s);
    if (s.found_count == 0 && s.has_raiser)
        found[s.found_count++] =
            opcode_at(&s, s.raiser) == COMMIT_COPIES ? copy_before(&s, s.raiser) : s.raiser;
    return s.found_count;
}

size_t ridge_sass_producer(const uint8_t *code, size_t code_bytes, int sm, size_t index)
{
    size_t nearest;

    if (ridge_sass_producers(code, code_bytes, sm, index, &nearest, 1) == 1)
        return nearest;
    return code_bytes / SASS_BYTES;
}
