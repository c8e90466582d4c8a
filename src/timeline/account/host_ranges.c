/* SPDX-License-Identifier: Apache-2.0
 *
 * In which range a thread was: the innermost that covers most of a stretch of its time. Such a range
 * is either the last of those that began by the stretch and last through half of it, or it began in
 * its first half and is itself as long as that. Both are found in trees of the largest ends and the
 * longest ranges of every BLOCK rows: O(log ranges) a question, whether they nest or cross.
 *
 * And the name that instances share which differ in a number alone. */
#include "timeline/account/account.h"

#include <string.h>

#include "base/hash.h"
#include "timeline/sums/sums_internal.h"

enum { BLOCK = 16 };

/* What a tree is over. */
typedef enum measure { MEASURE_END, MEASURE_LENGTH, MEASURES } measure;

typedef struct range_tree {
    unsigned kinds;
    size_t leaves; /* a power of two; the leaves from values[leaves] on, the root at 1 */
    int64_t *values[MEASURES];
} range_tree;

struct host_ranges {
    const ridge_trace *trace;
    const ridge_trace_range *ranges;
    size_t count;
    range_tree trees[2]; /* what a program says of itself, then frames of Python */
};

bool sum_says_something(const char *range)
{
    return strncmp(range, "<built-in", 9) != 0 && strncmp(range, "ProfilerStep", 12) != 0;
}

/* Of a range that may be the answer; of others less than any that is asked for. */
static int64_t value_of(const host_ranges *of, const range_tree *tree, measure what, size_t row)
{
    const ridge_trace_range *const range = &of->ranges[row];

    if ((tree->kinds >> range->kind & 1) == 0 || (range->flags & RIDGE_RANGE_OTHER_THREAD) != 0 ||
        !sum_says_something(ridge_trace_name(of->trace, range->name, NULL)))
        return INT64_MIN;
    return what == MEASURE_END ? range->end_ns : sum_span_ns(range->start_ns, range->end_ns);
}

static bool fill_tree(const host_ranges *of, range_tree *tree)
{
    const size_t blocks = (of->count + BLOCK - 1) / BLOCK;

    tree->leaves = 1;
    while (tree->leaves < blocks)
        tree->leaves *= 2;
    for (int what = 0; what < MEASURES; what++) {
        int64_t *const values = ridge_calloc(tree->leaves * 2, sizeof(*values));

        tree->values[what] = values;
        if (values == NULL)
            return false;
        for (size_t i = 0; i < tree->leaves * 2; i++)
            values[i] = INT64_MIN;
        for (size_t row = 0; row < of->count; row++) {
            const int64_t value = value_of(of, tree, (measure)what, row);
            int64_t *const leaf = &values[tree->leaves + row / BLOCK];

            *leaf = value > *leaf ? value : *leaf;
        }
        for (size_t i = tree->leaves; i-- > 1;)
            values[i] = values[i * 2] > values[i * 2 + 1] ? values[i * 2] : values[i * 2 + 1];
    }
    return true;
}

/* The last block in front of `before` with such a value; SIZE_MAX: none. */
static size_t last_block(const range_tree *tree, measure what, size_t before, int64_t least)
{
    const int64_t *const values = tree->values[what];
    size_t at = tree->leaves + before;

    do {
        while (at > 1 && (at & 1) == 0)
            at >>= 1;
        if (at <= 1)
            return SIZE_MAX;
        at--;
    } while (values[at] < least);
    while (at < tree->leaves)
        at = values[at * 2 + 1] >= least ? at * 2 + 1 : at * 2;
    return at - tree->leaves;
}

/* The last of rows first..before-1 whose value is least or more; RIDGE_TRACE_NONE. */
static uint32_t last_row(const host_ranges *of, const range_tree *tree, measure what, size_t first,
                         size_t before, int64_t least)
{
    const size_t block = before / BLOCK;

    for (size_t row = before; row > block * BLOCK && row > first; row--)
        if (value_of(of, tree, what, row - 1) >= least)
            return (uint32_t)(row - 1);
    if (block * BLOCK <= first)
        return RIDGE_TRACE_NONE;
    before = last_block(tree, what, block, least);
    if (before == SIZE_MAX)
        return RIDGE_TRACE_NONE;
    for (size_t row = (before + 1) * BLOCK; row > before * BLOCK && row > first; row--)
        if (value_of(of, tree, what, row - 1) >= least)
            return (uint32_t)(row - 1);
    return RIDGE_TRACE_NONE;
}

/* The first row of a thread's that starts later. */
static size_t rows_until(const host_ranges *of, const ridge_trace_thread *thread, int64_t time_ns)
{
    size_t low = thread->first_range, high = thread->first_range + thread->range_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (of->ranges[middle].start_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t host_ranges_find(const host_ranges *of, const ridge_trace_thread *thread, int64_t start_ns,
                          int64_t end_ns, bool in_python)
{
    const range_tree *const tree = &of->trees[in_python];
    const int64_t least_ns = sum_span_ns(start_ns, end_ns) / 2 + 1;
    uint32_t row;

    if (tree->values[0] == NULL || end_ns <= start_ns || thread->range_count == 0)
        return RIDGE_TRACE_NONE;
    row = last_row(of, tree, MEASURE_LENGTH, thread->first_range,
                   rows_until(of, thread, end_ns - least_ns), least_ns);
    if (row != RIDGE_TRACE_NONE && of->ranges[row].start_ns > start_ns)
        return row;
    return last_row(of, tree, MEASURE_END, thread->first_range, rows_until(of, thread, start_ns),
                    start_ns + least_ns);
}

host_ranges *host_ranges_create(const ridge_trace *trace)
{
    const unsigned python = 1U << RIDGE_RANGE_PYTHON;
    host_ranges *const of = ridge_calloc(1, sizeof(*of));
    unsigned kinds = 0;
    bool done = of != NULL;

    if (of == NULL)
        return NULL;
    of->trace = trace;
    of->ranges = ridge_trace_ranges(trace, &of->count);
    for (size_t i = 0; i < of->count; i++)
        kinds |= 1U << of->ranges[i].kind;
    of->trees[0].kinds = kinds & ~python;
    of->trees[1].kinds = kinds & python;
    for (size_t i = 0; done && i < 2; i++)
        done = of->trees[i].kinds == 0 || fill_tree(of, &of->trees[i]);
    if (done)
        return of;
    host_ranges_free(of);
    return NULL;
}

void host_ranges_free(host_ranges *of)
{
    if (of == NULL)
        return;
    for (size_t i = 0; i < 2; i++)
        for (int what = 0; what < MEASURES; what++)
            ridge_free(of->trees[i].values[what]);
    ridge_free(of);
}

/* -- names ------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

/* Where the name ends: emit_nvtx() of PyTorch puts numbers behind it. */
static size_t length_of_range(const char *text)
{
    static const char *const tails[] = {", seq = ", ", op_id = ", ", sizes = "};
    const char *comma = text;

    while ((comma = strchr(comma, ',')) != NULL) {
        for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
            if (strncmp(comma, tails[i], strlen(tails[i])) == 0)
                return (size_t)(comma - text);
        comma++;
    }
    return strlen(text);
}

/* Digits that count something: a word, and no line of a file ("model.py(12): forward"). */
static bool is_number(const char *text, size_t at, size_t digits)
{
    return digits > 0 && (at == 0 || !(is_letter(text[at - 1]) || is_digit(text[at - 1]))) &&
           !is_letter(text[at + digits]) && strncmp(text + at + digits, "): ", 3) != 0;
}

char *ridge_range_family(const char *name, char *buffer, size_t size)
{
    const char *const text = name[0] == ':' && name[1] != ':' ? name + 1 : name;
    const size_t length = length_of_range(text);
    size_t to = 0;

    for (size_t at = 0; at < length && to + 1 < size;) {
        const size_t digits = strspn(text + at, "0123456789");

        if (is_number(text, at, digits)) {
            buffer[to++] = '*';
            at += digits;
        } else {
            buffer[to++] = text[at++];
        }
    }
    if (size > 0)
        buffer[to] = '\0';
    return buffer;
}
