/* SPDX-License-Identifier: Apache-2.0
 *
 * What the executed instructions say: how many of which kind, how many bytes a warp has under way
 * before it waits, and whether an asynchronous copy is waited for at once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

enum { LANES = 32, INSTRUCTION_BYTES = 16, NO_BARRIER = 7, SCOREBOARDS = 6 };

/* The memory spaces as the report encodes them. */
enum { MEMORY_GLOBAL = 4, MEMORY_LOCAL = 8, MEMORY_SHARED = 16 };

static bool named(const ridge_instruction *row, const char *name)
{
    return row->sass.name != NULL && strcmp(row->sass.name, name) == 0;
}

bool row_is_atomic(const ridge_instruction *row)
{
    return named(row, "ATOM") || named(row, "ATOMG") || named(row, "RED") || named(row, "REDG");
}

bool row_is_shared_atomic(const ridge_instruction *row)
{
    return named(row, "ATOMS");
}

bool row_is_global(const ridge_instruction *row)
{
    if (row->sass.name == NULL)
        return (row->memory_type & MEMORY_GLOBAL) != 0;
    return row->sass.cls == RIDGE_SASS_GLOBAL || named(row, "LDGSTS");
}

bool row_is_narrow(const ridge_instruction *row)
{
    return row_is_global(row) && row->sass.width_bytes > 0 && row->sass.width_bytes <= 2;
}

bool row_is_local(const ridge_instruction *row)
{
    return row->sass.name == NULL ? row->memory_type == MEMORY_LOCAL
                                  : row->sass.cls == RIDGE_SASS_LOCAL;
}

static bool row_is_shared(const ridge_instruction *row)
{
    if (row->sass.name == NULL)
        return row->memory_type == MEMORY_SHARED;
    return row->sass.cls == RIDGE_SASS_SHARED || row_is_shared_atomic(row);
}

bool row_is_conversion(const ridge_instruction *row)
{
    return row->sass.cls == RIDGE_SASS_CONVERT;
}

static void count_row(struct code_facts *code, const ridge_instruction *row)
{
    const uint64_t executed = row->executed;

    code->executed += executed;
    if (row_is_global(row)) {
        code->global_accesses += executed;
        code->narrow_accesses += row_is_narrow(row) ? executed : 0;
        if (row->sass.is_load) {
            code->global_loads += executed;
            code->narrow_loads += row_is_narrow(row) ? executed : 0;
        }
    }
    code->global_atomics += row_is_atomic(row) ? executed : 0;
    code->shared_atomics += row_is_shared_atomic(row) ? executed : 0;
    code->shared_accesses += row_is_shared(row) ? executed : 0;
    code->local_accesses += row_is_local(row) ? executed : 0;
    code->async_copies += named(row, "LDGSTS") ? executed : 0;
    code->bulk_copies += row->sass.name != NULL && (strncmp(row->sass.name, "UTMA", 4) == 0 ||
                                                    strncmp(row->sass.name, "UBLK", 4) == 0)
                             ? executed
                             : 0;
    code->conversions += row_is_conversion(row) ? executed : 0;
    code->special += row->sass.cls == RIDGE_SASS_SPECIAL ? executed : 0;
    code->tensor += row->sass.cls == RIDGE_SASS_TENSOR ? executed : 0;
    code->fp64 += row->sass.cls == RIDGE_SASS_FP64 ? executed : 0;
    code->integer += row->sass.cls == RIDGE_SASS_INT ? executed : 0;
    code->barriers += named(row, "BAR") ? executed : 0;
    code->branches += row->sass.is_branch ? executed : 0;
}

static struct opcode_total *opcode_of(struct code_facts *code, const ridge_instruction *row)
{
    struct opcode_total *opcode;
    size_t i;

    for (i = 0; i < code->opcode_count; i++)
        if (strcmp(code->opcodes[i].name, row->sass.text) == 0)
            return &code->opcodes[i];
    if (code->opcode_count == OPCODES)
        return NULL; /* the rarest ones of a very mixed kernel are not listed */
    opcode = &code->opcodes[code->opcode_count++];
    opcode->name = row->sass.text;
    opcode->cls = row->sass.cls;
    opcode->is_load = row->sass.is_load;
    opcode->is_store = row->sass.is_store;
    opcode->width_bytes = row->sass.width_bytes;
    return opcode;
}

static int compare_opcodes(const void *left, const void *right)
{
    const struct opcode_total *const a = left;
    const struct opcode_total *const b = right;

    if (a->executed != b->executed)
        return a->executed < b->executed ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void collect_opcodes(struct code_facts *code, const ridge_profile *profile)
{
    size_t i;

    for (i = 0; i < profile->row_count; i++) {
        const ridge_instruction *const row = &profile->rows[i];
        struct opcode_total *const opcode =
            row->sass.name != NULL && row->executed > 0 ? opcode_of(code, row) : NULL;

        if (opcode == NULL)
            continue;
        opcode->executed += row->executed;
        opcode->samples += row->samples;
        opcode->wavefronts += row->wavefronts;
        opcode->wavefronts_ideal += row->wavefronts_ideal;
        opcode->sectors += row->sectors;
        opcode->sectors_ideal += row->sectors_ideal;
    }
    qsort(code->opcodes, code->opcode_count, sizeof(code->opcodes[0]), compare_opcodes);
}

/* The count operand of DEPBAR.LE: how many groups may still be under way. Bits 38 to 43. */
static unsigned depbar_count(const ridge_instruction *row)
{
    const uint8_t *const word = row->function->code + row->offset;

    return (unsigned)(word[4] >> 6 | (word[5] & 0xf) << 2);
}

/* Bytes of independent global loads that a warp issues before it first waits for one of them: the
 * largest such sum over straight runs of the code that matters (executed at least a tenth as
 * often as the most executed load). A load whose result was waited for is no longer under way. */
static void collect_in_flight(struct code_facts *code, const ridge_profile *profile)
{
    uint64_t most_executed = 0;
    double under_way = 0;
    double weighted = 0, weight = 0;
    unsigned boards = 0;
    size_t i;

    code->bytes_in_flight_per_warp = NAN;
    if (code->bulk_copies > 0 || code->async_copies > 0)
        return; /* their depth is in barriers and groups, not in registers */
    for (i = 0; i < profile->row_count; i++)
        if (row_is_global(&profile->rows[i]) && profile->rows[i].sass.is_load &&
            profile->rows[i].executed > most_executed)
            most_executed = profile->rows[i].executed;
    if (most_executed == 0)
        return;
    for (i = 0; i < profile->row_count; i++) {
        const ridge_instruction *const row = &profile->rows[i];
        const bool waits = (row->sass.wait_mask & boards) != 0;

        if (waits || row->sass.is_branch) {
            /* Runs count by how many bytes they bring. */
            weighted += under_way * under_way;
            weight += under_way;
            under_way = 0;
            boards = 0;
        }
        if (row_is_global(row) && row->sass.is_load && row->executed >= most_executed / 10 &&
            row->sass.write_barrier < SCOREBOARDS) {
            under_way += (double)row->sass.width_bytes * LANES;
            boards |= 1u << row->sass.write_barrier;
        }
    }
    if (weight > 0)
        code->bytes_in_flight_per_warp = weighted / weight;
}

/* The range of rows of the innermost loop around a row: from the target of the nearest backward
 * branch behind it. False when the row is in no loop. */
static bool loop_around(const ridge_profile *profile, size_t index, size_t *first, size_t *last)
{
    size_t i;

    for (i = index; i < profile->row_count; i++) {
        const ridge_instruction *const row = &profile->rows[i];

        if (row->sass.is_branch && row->sass.branch_target >= 0 &&
            row->sass.branch_target <= (int64_t)profile->rows[index].offset) {
            *last = i;
            *first = index - (profile->rows[index].offset - (size_t)row->sass.branch_target) /
                                 INSTRUCTION_BYTES;
            return true;
        }
    }
    return false;
}

/* cp.async that nothing overlaps: in the loop of the copy the wait is for all groups, a barrier
 * follows, and no copy of the next round was issued before the wait. */
static void collect_async(struct code_facts *code, const ridge_profile *profile)
{
    size_t i;

    for (i = 0; i < profile->row_count && code->async_copies > 0; i++) {
        size_t first, last, r;
        bool wait_for_all = false, barrier = false;

        if (!named(&profile->rows[i], "LDGSTS") || profile->rows[i].executed == 0 ||
            !loop_around(profile, i, &first, &last))
            continue;
        for (r = i; r <= last; r++) {
            const ridge_instruction *const row = &profile->rows[r];

            if (named(row, "DEPBAR") && row->executed > 0) {
                if (depbar_count(row) != 0)
                    return; /* groups are left under way */
                wait_for_all = true;
                code->async_wait_row = r;
            }
            if (wait_for_all && named(row, "BAR"))
                barrier = true;
        }
        if (wait_for_all && barrier)
            code->async_waits_at_once = true;
        return;
    }
}

void code_facts_collect(struct facts *facts)
{
    struct code_facts *const code = &facts->code;
    const ridge_profile *const profile = facts->profile;
    size_t i;

    code->bytes_in_flight_per_warp = NAN;
    if (profile == NULL)
        return;
    for (i = 0; i < profile->row_count; i++)
        count_row(code, &profile->rows[i]);
    if ((profile->columns & RIDGE_PROFILE_OPCODES) == 0 ||
        (profile->columns & RIDGE_PROFILE_EXECUTED) == 0)
        return;
    collect_opcodes(code, profile);
    collect_in_flight(code, profile);
    collect_async(code, profile);
}
