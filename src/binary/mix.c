/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts the instructions of a function by kind, width and work. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary/binary_internal.h"
#include "ridge/mix.h"

enum { WARP_LANES = 32, WARPGROUP_WARPS = 4 };

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory counting instructions");
}

/* ---- FLOP ---- */

/* FLOP of a lane. */
static const struct arithmetic {
    const char *name;
    uint8_t flop;
    bool has_addend; /* one operand may be absent without making it a move */
} arithmetics[] = {
    {"FADD", 1, false},    {"FMUL", 1, false},    {"FFMA", 2, true},    {"FADD2", 2, false},
    {"FMUL2", 2, false},   {"FFMA2", 4, true},    {"HADD2", 2, false},  {"HMUL2", 2, false},
    {"HFMA2", 4, true},    {"DADD", 1, false},    {"DMUL", 1, false},   {"DFMA", 2, true},
    {"FADD32I", 1, false}, {"FMUL32I", 1, false}, {"FFMA32I", 2, true},
};

/* Multiplications of matrices by a warp whose text says the shape: m, n, k. */
static const struct shape {
    const char *text; /* how the instruction's text begins */
    uint16_t m, n, k;
} shapes[] = {
    {"HMMA.16816.", 16, 8, 16},  {"HMMA.1688.", 16, 8, 8},   {"HMMA.1684.", 16, 8, 4},
    {"IMMA.8816.", 8, 8, 16},    {"IMMA.8832.", 8, 8, 32},   {"IMMA.16816.", 16, 8, 16},
    {"IMMA.16832.", 16, 8, 32},  {"IMMA.16864.", 16, 8, 64}, {"QMMA.16832.", 16, 8, 32},
    {"DMMA.8x8x4", 8, 8, 4},     {"DMMA.16x8x4", 16, 8, 4},  {"DMMA.16x8x8", 16, 8, 8},
    {"DMMA.16x8x16", 16, 8, 16},
};

/* Multiply matrices, in whatever shape; what else is of the class moves data or synchronises. */
static bool is_multiplication(const char *name)
{
    const size_t length = strlen(name);

    return length >= 3 && strcmp(name + length - 3, "MMA") == 0;
}

static double shape_flop(double m, double n, double k)
{
    return 2 * m * n * k;
}

static double tensor_flop(const ridge_sass *sass)
{
    unsigned n, k;
    size_t i;

    /* Four warps do one of these together. */
    if (sscanf(sass->text, "HGMMA.64x%ux%u", &n, &k) == 2 ||
        sscanf(sass->text, "QGMMA.64x%ux%u", &n, &k) == 2)
        return shape_flop(64, n, k) / WARPGROUP_WARPS;
    for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const size_t length = strlen(shapes[i].text);
        const char *const text = shapes[i].text;

        if (strncmp(sass->text, text, length) == 0 &&
            (text[length - 1] == '.' || sass->text[length] == '\0' || sass->text[length] == '.'))
            return shape_flop(shapes[i].m, shapes[i].n, shapes[i].k);
    }
    return is_multiplication(sass->name) ? NAN : 0;
}

double ridge_sass_flop(const ridge_sass *sass)
{
    size_t i;

    if (sass->cls == RIDGE_SASS_TENSOR)
        return tensor_flop(sass);
    if (sass->cls != RIDGE_SASS_FP16 && sass->cls != RIDGE_SASS_FP32 &&
        sass->cls != RIDGE_SASS_FP64)
        return 0;
    for (i = 0; i < sizeof(arithmetics) / sizeof(arithmetics[0]); i++) {
        if (strcmp(sass->name, arithmetics[i].name) != 0)
            continue;
        /* HFMA2 R8, -RZ, RZ, 1.5, 2: a move of constants to which the compiler sends some to
         * balance the pipes. */
        if (arithmetics[i].has_addend && sass->source[0].count == 0 && sass->source[1].count == 0)
            return 0;
        return (double)arithmetics[i].flop * WARP_LANES;
    }
    return 0;
}

/* ---- rows by text ---- */

/* An open hash table over the rows; slots hold an index + 1. */
typedef struct row_index {
    uint32_t *slots;
    size_t slot_count; /* a power of two, more than half free */
    size_t row_capacity;
} row_index;

static size_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    while (*text != '\0')
        hash = (hash ^ (uint8_t)*text++) * 16777619u;
    return hash;
}

static uint32_t *slot_of(const row_index *index, const ridge_mix_row *rows, const char *text)
{
    size_t at = hash_text(text) & (index->slot_count - 1);

    while (index->slots[at] != 0 && strcmp(rows[index->slots[at] - 1].text, text) != 0)
        at = (at + 1) & (index->slot_count - 1);
    return &index->slots[at];
}

/* Room for one row more. */
static bool grow(row_index *index, ridge_mix *mix)
{
    const size_t capacity = index->row_capacity == 0 ? 64 : index->row_capacity * 2;
    ridge_mix_row *rows;
    uint32_t *slots;
    size_t i;

    if (mix->row_count < index->row_capacity)
        return true;
    rows = ridge_realloc_array(mix->rows, capacity, sizeof(*rows));
    if (rows == NULL)
        return false;
    mix->rows = rows;
    slots = ridge_calloc(4 * capacity, sizeof(*slots));
    if (slots == NULL)
        return false;
    ridge_free(index->slots);
    index->slots = slots;
    index->slot_count = 4 * capacity;
    index->row_capacity = capacity;
    for (i = 0; i < mix->row_count; i++)
        *slot_of(index, rows, rows[i].text) = (uint32_t)i + 1;
    return true;
}

static bool count_row(row_index *index, ridge_mix *mix, const ridge_sass *sass)
{
    uint32_t *slot;

    if (!grow(index, mix))
        return false;
    slot = slot_of(index, mix->rows, sass->text);
    if (*slot == 0) {
        ridge_mix_row *const row = &mix->rows[mix->row_count++];

        memset(row, 0, sizeof(*row));
        memcpy(row->text, sass->text, sizeof(row->text));
        row->cls = sass->cls;
        row->flop = ridge_sass_flop(sass);
        *slot = (uint32_t)mix->row_count;
    }
    mix->rows[*slot - 1].count++;
    return true;
}

static int by_class(const void *left, const void *right)
{
    const ridge_mix_row *const a = left;
    const ridge_mix_row *const b = right;

    if (a->cls != b->cls)
        return a->cls < b->cls ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->text, b->text);
}

/* ---- widths ---- */

static void count_width(ridge_mix *mix, const ridge_sass *sass)
{
    unsigned log2 = 0;
    ridge_mix_space space;

    if (sass->width_bytes == 0)
        return;
    if (sass->cls == RIDGE_SASS_SHARED)
        space = RIDGE_MIX_SHARED;
    else if (sass->cls == RIDGE_SASS_LOCAL)
        space = RIDGE_MIX_LOCAL;
    else if (sass->cls == RIDGE_SASS_GLOBAL || sass->cls == RIDGE_SASS_ASYNC)
        space = RIDGE_MIX_GLOBAL;
    else
        return;
    while (1u << (log2 + 1) <= sass->width_bytes && log2 + 1 < RIDGE_MIX_WIDTHS)
        log2++;
    if (sass->is_load)
        mix->widths[space][0][log2]++;
    if (sass->is_store && !sass->is_load)
        mix->widths[space][1][log2]++;
    if (space == RIDGE_MIX_GLOBAL)
        mix->global_bytes += (double)sass->width_bytes * WARP_LANES;
    if (space == RIDGE_MIX_LOCAL)
        mix->local_bytes += (double)sass->width_bytes * WARP_LANES;
    if (space == RIDGE_MIX_SHARED || sass->cls == RIDGE_SASS_ASYNC)
        mix->shared_bytes += (double)sass->width_bytes * WARP_LANES;
}

/* ---- which instructions ---- */

enum { IS_OUT = 1, IS_IN = 2 };

/* Of each loop whether it is the wanted one or inside it. Each is asked once. */
static uint8_t *mark_loops(const ridge_loops *loops, int which)
{
    uint8_t *const marks = ridge_calloc(loops->count + 1, 1);
    size_t i;

    if (marks == NULL)
        return NULL;
    for (i = 0; i < loops->count; i++) {
        int32_t at = (int32_t)i;
        uint8_t mark;

        while (at >= 0 && at != which && marks[at] == 0)
            at = loops->rows[at].parent;
        mark = at == which ? IS_IN : at < 0 ? IS_OUT : marks[at];
        for (at = (int32_t)i; at >= 0 && marks[at] == 0; at = loops->rows[at].parent) {
            marks[at] = mark;
            if (at == which)
                break;
        }
    }
    return marks;
}

static bool is_wanted(const ridge_loops *loops, const uint8_t *marks, int which, size_t i)
{
    if (which == RIDGE_MIX_WHOLE)
        return true;
    if (loops == NULL || i >= loops->instruction_count || loops->of[i] < 0)
        return false;
    return which == RIDGE_MIX_LOOPS || (marks != NULL && marks[loops->of[i]] == IS_IN);
}

/* ---- public ---- */

size_t ridge_sass_padding(const uint8_t *code, size_t code_bytes, int sm)
{
    const size_t all = code_bytes / SASS_BYTES;
    size_t count = all;

    while (count > 0) {
        const size_t offset = (count - 1) * SASS_BYTES;
        ridge_sass sass;

        sass_decode_fields(code + offset, (uint32_t)offset, sm, &sass);
        if (strcmp(sass.name, "NOP") != 0 &&
            (!sass.is_branch || sass.branch_target != (int64_t)offset))
            break;
        count--;
    }
    return all - count;
}

static void count_work(ridge_mix *mix, const ridge_sass *sass)
{
    const double flop = ridge_sass_flop(sass);

    mix->instruction_count++;
    mix->classes[sass->cls]++;
    count_width(mix, sass);
    if (isnan(flop))
        mix->unknown_tensor_count++;
    else if (sass->cls == RIDGE_SASS_TENSOR)
        mix->tensor_flop += flop;
    else
        mix->flop += flop;
}

ridge_status ridge_mix_count(const uint8_t *code, size_t code_bytes, int sm,
                             const ridge_loops *loops, int which, ridge_mix *out, ridge_error *err)
{
    const size_t all = code_bytes / SASS_BYTES;
    const size_t count = all - ridge_sass_padding(code, code_bytes, sm);
    ridge_mix mix = {0};
    row_index index = {0};
    uint8_t *marks = NULL;
    bool ok = true;
    size_t i;

    memset(out, 0, sizeof(*out));
    if (which >= 0 && loops != NULL) {
        marks = mark_loops(loops, which);
        ok = marks != NULL;
    }
    for (i = 0; i < count && ok; i++) {
        ridge_sass sass;

        if (!is_wanted(loops, marks, which, i))
            continue;
        ridge_sass_decode(code + i * SASS_BYTES, (uint32_t)(i * SASS_BYTES), sm, &sass);
        count_work(&mix, &sass);
        ok = count_row(&index, &mix, &sass);
    }
    ridge_free(marks);
    ridge_free(index.slots);
    if (!ok) {
        ridge_mix_release(&mix);
        return out_of_memory(err);
    }
    mix.padding_count = which == RIDGE_MIX_WHOLE ? all - count : 0;
    if (mix.row_count > 0)
        qsort(mix.rows, mix.row_count, sizeof(*mix.rows), by_class);
    *out = mix; /* given to the caller */
    return RIDGE_OK;
}

void ridge_mix_release(ridge_mix *mix)
{
    ridge_free(mix->rows);
    memset(mix, 0, sizeof(*mix));
}

/* ---- the work of loops ---- */

static void add_work(ridge_loop_work *to, const ridge_loop_work *more)
{
    to->flop += more->flop;
    to->tensor_flop += more->tensor_flop;
    to->unknown_tensor_count += more->unknown_tensor_count;
    to->global_bytes += more->global_bytes;
    to->shared_bytes += more->shared_bytes;
    to->local_bytes += more->local_bytes;
}

static int deepest_first(const void *left, const void *right)
{
    const ridge_loop *const a = *(const ridge_loop *const *)left;
    const ridge_loop *const b = *(const ridge_loop *const *)right;

    return (a->depth < b->depth) - (a->depth > b->depth);
}

/* Adds each loop to the one around it. order has room for all. */
static void sum_loops(const ridge_loops *loops, const ridge_loop **order, ridge_loop_work *work)
{
    size_t i;

    for (i = 0; i < loops->count; i++)
        order[i] = &loops->rows[i];
    if (loops->count > 1)
        qsort(order, loops->count, sizeof(*order), deepest_first);
    for (i = 0; i < loops->count; i++)
        if (order[i]->parent >= 0)
            add_work(&work[order[i]->parent], &work[order[i] - loops->rows]);
}

ridge_status ridge_loop_work_count(const uint8_t *code, size_t code_bytes, int sm,
                                   const ridge_loops *loops, ridge_loop_work **out,
                                   ridge_error *err)
{
    const size_t count = code_bytes / SASS_BYTES - ridge_sass_padding(code, code_bytes, sm);
    ridge_loop_work *const work = ridge_calloc(loops->count + 1, sizeof(*work));
    const ridge_loop **const order = ridge_calloc(loops->count + 1, sizeof(*order));
    size_t i;

    *out = NULL;
    if (work == NULL || order == NULL) {
        ridge_free(work);
        ridge_free(order);
        return out_of_memory(err);
    }
    for (i = 0; i < count && i < loops->instruction_count; i++) {
        ridge_mix one = {0};
        ridge_sass sass;

        if (loops->of[i] < 0)
            continue;
        ridge_sass_decode(code + i * SASS_BYTES, (uint32_t)(i * SASS_BYTES), sm, &sass);
        count_work(&one, &sass);
        add_work(&work[loops->of[i]],
                 &(ridge_loop_work){one.flop, one.tensor_flop, one.unknown_tensor_count,
                                    one.global_bytes, one.shared_bytes, one.local_bytes});
    }
    sum_loops(loops, order, work);
    ridge_free(order);
    *out = work;
    return RIDGE_OK;
}

void ridge_loop_work_free(ridge_loop_work *work)
{
    ridge_free(work);
}
