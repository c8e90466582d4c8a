/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops of a function.
 *
 * The code is cut into blocks at branches and their targets. A depth-first search numbers the
 * blocks; an edge to a block that the search is still below closes a loop, and that block is the
 * loop's head. Heads are taken from the last numbered to the first: what reaches a back edge
 * without passing the head is the body, and a body found earlier counts as one block, its head
 * (union-find), which gives the nesting. Each block becomes part of a body once, so the cost is
 * near linear even for hostile code. A loop with a second entry keeps the head that the search
 * meets first; the second entry is passed over. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "binary/binary_internal.h"
#include "ridge/mix.h"

#define NONE UINT32_MAX

/* Where control goes after an instruction. */
typedef struct flow {
    bool ends_block;
    bool falls_through;
    bool has_target;
    size_t target; /* index of an instruction */
} flow;

typedef struct block {
    uint32_t first, end; /* instructions */
    uint32_t next[2];    /* blocks; NONE */
    uint32_t number;     /* in depth-first order; NONE: not seen yet */
} block;

/* The graph, numbered. Arrays below are by number in depth-first order. */
typedef struct flow_graph {
    uint32_t *block_at; /* of each instruction: its block */
    block *blocks;
    uint32_t block_count;

    uint32_t *order;  /* block */
    uint32_t *last;   /* largest number of what was found below */
    uint32_t *head;   /* innermost loop's head that a block belongs to, itself aside; NONE */
    uint32_t *merged; /* union-find */
    bool *is_head;
    /* Edges into a block: edges[first_edge[b]] up to edges[first_edge[b + 1]]. */
    uint32_t *first_edge;
    uint32_t *edges;
    uint32_t *stack;
} flow_graph;

/* ---- blocks ---- */

static bool is_named(const ridge_sass *sass, const char *name)
{
    return strcmp(sass->name, name) == 0;
}

/* Branches with a condition besides the guard: a uniform predicate (opcode 547), a predicate in
 * bits 87..90, or on how the warp diverges (BRA.DIV, BRA.CONV: bit 33). */
static bool is_always(const uint8_t *word, const ridge_sass *sass)
{
    enum { UNIFORM_FORM = 0x547, ALWAYS = 7 };

    if (sass->guard != ALWAYS || sass->guard_negated)
        return false;
    if (!sass->is_branch)
        return true;
    return sass->opcode != UNIFORM_FORM && (word[4] & 2) == 0 && (word[10] & 0x80) != 0 &&
           (word[11] & 7) == 3;
}

static flow flow_of(const uint8_t *code, size_t index, size_t count, int sm)
{
    const uint8_t *const word = code + index * SASS_BYTES;
    flow to = {.falls_through = true};
    ridge_sass sass;

    sass_decode_fields(word, (uint32_t)(index * SASS_BYTES), sm, &sass);
    if (sass.is_branch) {
        to.ends_block = true;
        to.falls_through = !is_always(word, &sass);
        if (sass.branch_target >= 0 && sass.branch_target % SASS_BYTES == 0 &&
            (uint64_t)sass.branch_target / SASS_BYTES < count) {
            to.target = (size_t)sass.branch_target / SASS_BYTES;
            to.has_target = to.target != index || to.falls_through;
        }
    } else if (sass.cls == RIDGE_SASS_CONTROL &&
               (is_named(&sass, "EXIT") || is_named(&sass, "RET") || is_named(&sass, "BRX") ||
                is_named(&sass, "BRXU") || is_named(&sass, "JMP") || is_named(&sass, "KILL"))) {
        to.ends_block = true;
        to.falls_through = !is_always(word, &sass);
    }
    to.falls_through = to.falls_through && index + 1 < count;
    return to;
}

/* Sets block_at to 1 where a block begins, then to the blocks; returns how many. */
static uint32_t number_blocks(const uint8_t *code, size_t count, int sm, uint32_t *block_at)
{
    uint32_t block_count = 0;
    size_t i;

    if (count > 0)
        block_at[0] = 1;
    for (i = 0; i < count; i++) {
        const flow to = flow_of(code, i, count, sm);

        if (to.has_target)
            block_at[to.target] = 1;
        if (to.ends_block && i + 1 < count)
            block_at[i + 1] = 1;
    }
    for (i = 0; i < count; i++) {
        block_count += block_at[i];
        block_at[i] = block_count - 1;
    }
    return block_count;
}

static void link_blocks(const uint8_t *code, size_t count, int sm, flow_graph *graph)
{
    size_t i;

    for (i = 0; i < graph->block_count; i++)
        graph->blocks[i] = (block){.next = {NONE, NONE}, .number = NONE};
    for (i = count; i-- > 0;) {
        block *const at = &graph->blocks[graph->block_at[i]];

        at->first = (uint32_t)i;
        if (at->end == 0) { /* its last instruction */
            const flow to = flow_of(code, i, count, sm);

            at->end = (uint32_t)i + 1;
            at->next[0] = to.falls_through ? graph->block_at[i + 1] : NONE;
            at->next[1] = to.has_target ? graph->block_at[to.target] : NONE;
        }
    }
}

/* ---- depth-first order ---- */

/* Numbers all blocks that are reached from one; returns the next number. */
static uint32_t search(flow_graph *graph, uint32_t root, uint32_t number)
{
    size_t depth = 0;

    graph->stack[depth++] = root;
    graph->blocks[root].number = number;
    graph->order[number++] = root;
    while (depth > 0) {
        block *const at = &graph->blocks[graph->stack[depth - 1]];
        uint32_t to = NONE;
        int i;

        for (i = 0; i < 2 && to == NONE; i++)
            if (at->next[i] != NONE && graph->blocks[at->next[i]].number == NONE)
                to = at->next[i];
        if (to == NONE) {
            graph->last[at->number] = number - 1;
            depth--;
            continue;
        }
        graph->blocks[to].number = number;
        graph->order[number++] = to;
        graph->stack[depth++] = to;
    }
    return number;
}

/* Sorts the edges by the block they go to. Counts stand two places further at first, and one
 * while the edges are filled in, so that no second array is needed. */
static void collect_edges(flow_graph *graph)
{
    uint32_t i;
    int k;

    for (i = 0; i < graph->block_count; i++)
        for (k = 0; k < 2; k++)
            if (graph->blocks[i].next[k] != NONE)
                graph->first_edge[graph->blocks[i].next[k] + 2]++;
    for (i = 0; i < graph->block_count; i++)
        graph->first_edge[i + 1] += graph->first_edge[i];
    for (i = 0; i < graph->block_count; i++)
        for (k = 0; k < 2; k++)
            if (graph->blocks[i].next[k] != NONE)
                graph->edges[graph->first_edge[graph->blocks[i].next[k] + 1]++] = i;
}

/* ---- bodies ---- */

static uint32_t find(flow_graph *graph, uint32_t number)
{
    uint32_t root = number;

    while (graph->merged[root] != root)
        root = graph->merged[root];
    while (graph->merged[number] != root) {
        const uint32_t next = graph->merged[number];

        graph->merged[number] = root;
        number = next;
    }
    return root;
}

static bool is_below(const flow_graph *graph, uint32_t number, uint32_t above)
{
    return above <= number && number <= graph->last[above];
}

/* Puts a block, or the loop that stands for it, into the body of head. */
static size_t take(flow_graph *graph, uint32_t head, uint32_t number, size_t depth)
{
    const uint32_t root = find(graph, number);

    if (root == head)
        return depth;
    graph->head[root] = head;
    graph->merged[root] = head;
    graph->stack[depth++] = root;
    return depth;
}

static void find_body(flow_graph *graph, uint32_t head)
{
    size_t depth = 0;
    uint32_t e;
    uint32_t at = graph->order[head];

    for (e = graph->first_edge[at]; e < graph->first_edge[at + 1]; e++) {
        const uint32_t from = graph->blocks[graph->edges[e]].number;

        if (!is_below(graph, from, head))
            continue;
        graph->is_head[head] = true;
        depth = take(graph, head, from, depth);
    }
    while (depth > 0) {
        const uint32_t number = graph->stack[--depth];

        at = graph->order[number];
        for (e = graph->first_edge[at]; e < graph->first_edge[at + 1]; e++) {
            const uint32_t from = graph->blocks[graph->edges[e]].number;

            /* Back edges of a loop inside were merged; what is not below enters from elsewhere. */
            if (is_below(graph, from, head))
                depth = take(graph, head, from, depth);
        }
    }
}

/* ---- rows ---- */

static int by_head(const void *left, const void *right)
{
    const ridge_loop *const a = left;
    const ridge_loop *const b = right;

    return (a->head > b->head) - (a->head < b->head);
}

/* Fills rows, in order of their heads, and row_of, by number. A head lies in front of what is found
 * below it, so in order of number each parent comes first. */
static void fill_rows(const flow_graph *graph, ridge_loops *out, int32_t *row_of)
{
    uint32_t i;
    size_t k;

    for (i = 0; i < graph->block_count; i++)
        if (graph->is_head[i])
            out->rows[out->count++].head = graph->blocks[graph->order[i]].first * SASS_BYTES;
    qsort(out->rows, out->count, sizeof(*out->rows), by_head);
    for (k = 0; k < out->count; k++)
        row_of[graph->blocks[graph->block_at[out->rows[k].head / SASS_BYTES]].number] = (int32_t)k;
    for (i = 0; i < graph->block_count; i++) {
        const int32_t parent = graph->head[i] != NONE ? row_of[graph->head[i]] : -1;

        if (!graph->is_head[i]) {
            row_of[i] = parent;
            continue;
        }
        out->rows[row_of[i]].parent = parent;
        out->rows[row_of[i]].depth = parent >= 0 ? out->rows[parent].depth + 1 : 1;
        out->rows[row_of[i]].is_innermost = true;
        if (parent >= 0)
            out->rows[parent].is_innermost = false;
    }
}

/* Adds each loop to the one around it: deepest first, as the depths say. */
static void sum_rows(ridge_loops *out, const int32_t *row_of, const flow_graph *graph)
{
    uint32_t i;
    size_t k;

    for (k = 0; k < out->instruction_count; k++) {
        ridge_loop *row;

        out->of[k] = row_of[graph->blocks[graph->block_at[k]].number];
        if (out->of[k] < 0)
            continue;
        row = &out->rows[out->of[k]];
        row->instruction_count++;
        row->end = (uint32_t)(k + 1) * SASS_BYTES;
    }
    for (i = graph->block_count; i-- > 0;) { /* from the last number: inner before outer */
        const ridge_loop *row;
        ridge_loop *parent;

        if (!graph->is_head[i])
            continue;
        row = &out->rows[row_of[i]];
        if (row->parent < 0)
            continue;
        parent = &out->rows[row->parent];
        parent->instruction_count += row->instruction_count;
        if (parent->end < row->end)
            parent->end = row->end;
    }
}

/* ---- public ---- */

static bool allocate(flow_graph *graph, ridge_arena *arena)
{
    const size_t count = graph->block_count;

    graph->blocks = ridge_alloc_array(arena, count, sizeof(*graph->blocks));
    graph->order = ridge_alloc_array(arena, count, sizeof(*graph->order));
    graph->last = ridge_alloc_array(arena, count, sizeof(*graph->last));
    graph->head = ridge_alloc_array(arena, count, sizeof(*graph->head));
    graph->merged = ridge_alloc_array(arena, count, sizeof(*graph->merged));
    graph->is_head = ridge_alloc_array(arena, count, sizeof(*graph->is_head));
    graph->first_edge = ridge_alloc_array(arena, count + 2, sizeof(*graph->first_edge));
    graph->edges = ridge_alloc_array(arena, 2 * count, sizeof(*graph->edges));
    graph->stack = ridge_alloc_array(arena, count + 1, sizeof(*graph->stack));
    return graph->blocks != NULL && graph->order != NULL && graph->last != NULL &&
           graph->head != NULL && graph->merged != NULL && graph->is_head != NULL &&
           graph->first_edge != NULL && graph->edges != NULL && graph->stack != NULL;
}

static void find_loops(flow_graph *graph)
{
    uint32_t number = 0;
    uint32_t i;

    /* Functions that are called, and what is reached through a register, are roots as well. */
    for (i = 0; i < graph->block_count; i++)
        if (graph->blocks[i].number == NONE)
            number = search(graph, i, number);
    assert(number == graph->block_count);
    collect_edges(graph);
    for (i = 0; i < graph->block_count; i++) {
        graph->head[i] = NONE;
        graph->merged[i] = i;
    }
    for (i = graph->block_count; i-- > 0;)
        find_body(graph, i);
}

static size_t count_heads(const flow_graph *graph)
{
    size_t count = 0;
    uint32_t i;

    for (i = 0; i < graph->block_count; i++)
        count += graph->is_head[i];
    return count;
}

ridge_status ridge_loops_find(const uint8_t *code, size_t code_bytes, int sm, ridge_loops *out,
                              ridge_error *err)
{
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_loops loops = {.instruction_count = code_bytes / SASS_BYTES};
    ridge_arena arena;
    flow_graph graph = {0};
    int32_t *row_of;

    memset(out, 0, sizeof(*out));
    ridge_arena_init(&arena);
    if (loops.instruction_count > INT32_MAX)
        goto out;
    graph.block_at = ridge_alloc_array(&arena, loops.instruction_count, sizeof(*graph.block_at));
    if (graph.block_at == NULL)
        goto out;
    graph.block_count = number_blocks(code, loops.instruction_count, sm, graph.block_at);
    row_of = ridge_alloc_array(&arena, graph.block_count, sizeof(*row_of));
    if (row_of == NULL || !allocate(&graph, &arena))
        goto out;
    link_blocks(code, loops.instruction_count, sm, &graph);
    find_loops(&graph);
    loops.rows = ridge_calloc(count_heads(&graph) + 1, sizeof(*loops.rows));
    loops.of = ridge_calloc(loops.instruction_count + 1, sizeof(*loops.of));
    if (loops.rows == NULL || loops.of == NULL)
        goto out;
    fill_rows(&graph, &loops, row_of);
    sum_rows(&loops, row_of, &graph);
    *out = loops; /* given to the caller */
    memset(&loops, 0, sizeof(loops));
    status = RIDGE_OK;
out:
    ridge_loops_release(&loops);
    ridge_arena_release(&arena);
    return status == RIDGE_OK
               ? status
               : ridge_fail(err, status, "out of memory finding loops in %zu bytes", code_bytes);
}

void ridge_loops_release(ridge_loops *loops)
{
    ridge_free(loops->rows);
    ridge_free(loops->of);
    memset(loops, 0, sizeof(*loops));
}

bool ridge_loops_contain(const ridge_loops *loops, size_t loop, size_t instruction)
{
    int32_t at = instruction < loops->instruction_count ? loops->of[instruction] : -1;

    while (at >= 0 && (size_t)at != loop)
        at = loops->rows[at].parent;
    return at >= 0;
}
