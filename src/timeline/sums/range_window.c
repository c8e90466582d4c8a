/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of a range by name, and what it might have been called where there is none. A name is
 * tried once, however many ranges have it. */
#include "timeline/sums/sums_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { NAMED_KINDS = 1 << RIDGE_RANGE_NVTX | 1 << RIDGE_RANGE_ANNOTATION, SUGGESTED = 3 };

static bool is_named(const ridge_trace_range *range)
{
    return (NAMED_KINDS >> range->kind & 1) != 0;
}

/* Without the colon that nsys writes in front of names of the default domain. */
static const char *plain_name(const ridge_trace *trace, uint32_t name)
{
    const char *const text = ridge_trace_name(trace, name, NULL);

    return text[0] == ':' ? text + 1 : text;
}

/* -- names that are near ----------------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Letters that agree at both ends, of all of the longer name: a mistake in the middle or an end too
 * many, at the cost of one look at each letter. A name that holds the other is nearer than any that
 * does not. */
static double likeness(const char *a, const char *b)
{
    const size_t a_length = strlen(a), b_length = strlen(b);
    const size_t shorter = a_length < b_length ? a_length : b_length;
    const size_t longer = a_length < b_length ? b_length : a_length;
    size_t front = 0, back = 0;

    while (front < shorter && lower(a[front]) == lower(b[front]))
        front++;
    while (back < shorter - front && lower(a[a_length - 1 - back]) == lower(b[b_length - 1 - back]))
        back++;
    return (strstr(b, a) != NULL ? 1 : 0) +
           (longer > 0 ? (double)(front + back) / (double)longer : 0);
}

typedef struct near_name {
    const char *name;
    double likeness;
} near_name;

/* The three most alike, ties in the order of letters. */
static void add_near(near_name *best, const char *wanted, const char *name)
{
    near_name added = {name, likeness(wanted, name)};

    for (size_t i = 0; i < SUGGESTED; i++) {
        const near_name old = best[i];

        if (old.name == NULL || added.likeness > old.likeness ||
            (added.likeness == old.likeness && strcmp(added.name, old.name) < 0)) {
            best[i] = added;
            added = old;
            if (added.name == NULL)
                return;
        }
    }
}

static ridge_status fail_missing(const ridge_trace *trace, const uint8_t *states,
                                 const char *wanted, ridge_error *err)
{
    const size_t name_count = ridge_trace_name_count(trace);
    near_name best[SUGGESTED] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    const bool is_plain = strpbrk(wanted, "\\^$.|?*+()[]{}") == NULL && wanted[0] != '\0';
    bool begins = false, holds = false; /* some name, with what was asked for */
    ridge_text list;
    ridge_status status;

    for (uint32_t i = 0; i <= name_count; i++)
        if (states[i] != 0) {
            const char *const name = plain_name(trace, i);

            add_near(best, wanted, name);
            begins = begins || (is_plain && strncmp(name, wanted, strlen(wanted)) == 0);
            holds = holds || (is_plain && strstr(name, wanted) != NULL);
        }
    ridge_text_init(&list);
    for (size_t i = 0; i < SUGGESTED && best[i].name != NULL; i++)
        ridge_text_format(&list, "%s'%.60s'", i > 0 ? ", " : "", best[i].name);
    if (begins || holds)
        ridge_text_format(&list, "; it must be the whole name: '%s%.60s.*'", begins ? "" : ".*",
                          wanted);
    status = list.failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory")
             : list.length == 0
                 ? ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "no range '%.100s': the trace holds no NVTX ranges and no "
                              "annotations",
                              wanted)
                 : ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "no range '%.100s': the nearest names are %s", wanted, list.data);
    ridge_text_release(&list);
    return status;
}

/* -- the window -------------------------------------------------------------------------------- */

typedef struct instance {
    int64_t start_ns, end_ns;
} instance;

static int order_instances(const void *left, const void *right)
{
    const instance *const a = left, *const b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

enum { NAME_UNUSED, NAME_OTHER, NAME_MATCHES };

/* A state for each name, so that the expression meets it once. */
static void match_names(const ridge_trace *trace, const regex_t *expression, uint8_t *states)
{
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);

    for (size_t i = 0; i < count; i++) {
        uint8_t *const state = &states[ranges[i].name];

        if (!is_named(&ranges[i]) || *state != NAME_UNUSED)
            continue;
        *state = regexec(expression, plain_name(trace, ranges[i].name), 0, NULL, 0) == 0 ||
                         regexec(expression, ridge_trace_name(trace, ranges[i].name, NULL), 0, NULL,
                                 0) == 0
                     ? NAME_MATCHES
                     : NAME_OTHER;
    }
}

static ridge_status find_window(const ridge_trace *trace, const char *name, const uint8_t *states,
                                instance *found, size_t first, size_t last, ridge_trace_window *out,
                                size_t *there, ridge_error *err)
{
    size_t count, found_count = 0;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);

    for (size_t i = 0; i < count; i++)
        if (is_named(&ranges[i]) && states[ranges[i].name] == NAME_MATCHES)
            found[found_count++] = (instance){ranges[i].start_ns, ranges[i].end_ns};
    if (there != NULL)
        *there = found_count;
    if (found_count == 0)
        return fail_missing(trace, states, name, err);
    if (first >= found_count || last < first)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "range '%.100s': instances %zu to %zu of %zu, counted from 0", name,
                          first, last, found_count);
    qsort(found, found_count, sizeof(*found), order_instances);
    *out = (ridge_trace_window){true, found[first].start_ns, found[first].end_ns, true};
    for (size_t i = first; i <= last && i < found_count; i++)
        out->end_ns = found[i].end_ns > out->end_ns ? found[i].end_ns : out->end_ns;
    return RIDGE_OK;
}

ridge_status ridge_trace_range_window(const ridge_trace *trace, const char *name, size_t first,
                                      size_t last, ridge_trace_window *out, size_t *count,
                                      ridge_error *err)
{
    size_t range_count;
    ridge_status status;
    regex_t expression;
    uint8_t *states;
    instance *found;

    *out = (ridge_trace_window){0};
    if (count != NULL)
        *count = 0;
    status = sum_compile("range", name, &expression, err);
    if (status != RIDGE_OK)
        return status;
    ridge_trace_ranges(trace, &range_count);
    states = ridge_calloc(ridge_trace_name_count(trace) + 1, sizeof(*states));
    found = ridge_calloc(range_count + 1, sizeof(*found));
    if (states == NULL || found == NULL) {
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        goto out;
    }
    match_names(trace, &expression, states);
    status = find_window(trace, name, states, found, first, last, out, count, err);
out:
    regfree(&expression);
    ridge_free(states);
    ridge_free(found);
    return status;
}
