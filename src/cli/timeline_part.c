/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a trace that is told: a window of time, instances of a range, steps. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "timeline_cli.h"

/* "3", "3..7", "3.." of whole numbers. */
static bool read_span(const char *text, uint64_t *first, uint64_t *last)
{
    const char *const dots = strstr(text, "..");
    char *end;

    errno = 0;
    *first = strtoull(text, &end, 10);
    if (end == text || text[strspn(text, "0123456789.")] != '\0' || errno != 0)
        return false;
    *last = *first;
    if (*end == '\0')
        return true;
    if (end != dots)
        return false;
    *last = UINT64_MAX;
    if (dots[2] == '\0')
        return true;
    *last = strtoull(dots + 2, &end, 10);
    return *end == '\0' && errno == 0 && *last >= *first;
}

/* A time such as "12", "12ms" or "1.5s"; milliseconds without a unit. */
static bool read_time(const char *text, size_t length, double *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e6}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"s", 1e9}};
    char word[48], *end;
    size_t i;

    if (length == 0 || length >= sizeof(word))
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (strspn(word, "0123456789.-") == 0)
        return false;
    *ns = strtod(word, &end);
    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].unit) == 0) {
            *ns *= units[i].ns;
            return isfinite(*ns) && fabs(*ns) < 4e18;
        }
    return false;
}

/* Without overflow: what lies beyond is the end of time. */
static int64_t time_after(int64_t origin_ns, double ns)
{
    const double sum = (double)origin_ns + ns;

    if (sum >= 9.2e18)
        return INT64_MAX;
    if (sum <= -9.2e18)
        return INT64_MIN;
    return origin_ns + (int64_t)ns;
}

static int read_window(const char *text, struct timeline_file *file)
{
    const char *const dots = strstr(text, "..");
    double from = 0, to = 0;

    if (dots == NULL || !read_time(text, (size_t)(dots - text), &from) ||
        !read_time(dots + 2, strlen(dots + 2), &to) || to <= from)
        return cli_usage_error("--window '%s': expected START..END, as 12ms..30ms", text);
    file->window.is_set = true;
    file->window.start_ns = time_after(file->origin_ns, from);
    file->window.end_ns = time_after(file->origin_ns, to);
    return CLI_DONE;
}

/* The number of "ProfilerStep#12", "step 12", "Step_12"; false: no step. */
static bool step_number(const char *name, uint64_t *number)
{
    const char *word;
    char *end;

    for (word = name; *word != '\0'; word++)
        if (strncasecmp(word, "step", 4) == 0)
            break;
    if (*word == '\0')
        return false;
    word += 4;
    word += strspn(word, "#_: =");
    if (*word < '0' || *word > '9')
        return false;
    errno = 0;
    *number = strtoull(word, &end, 10);
    return errno == 0 && *end == '\0';
}

static int read_steps(const char *text, struct timeline_file *file)
{
    uint64_t first, last, number, lowest = UINT64_MAX, highest = 0;
    size_t count, i;
    const ridge_trace_range *const ranges = ridge_trace_ranges(file->trace, &count);
    ridge_trace_window *const window = &file->window;
    uint64_t taken_first = UINT64_MAX, taken_last = 0;
    bool any = false;

    if (!read_span(text, &first, &last))
        return cli_usage_error("--steps '%s': expected A..B, as 3..5", text);
    for (i = 0; i < count; i++) {
        if ((ranges[i].kind != RIDGE_RANGE_NVTX && ranges[i].kind != RIDGE_RANGE_ANNOTATION) ||
            !step_number(ridge_trace_name(file->trace, ranges[i].name, NULL), &number))
            continue;
        any = true;
        lowest = number < lowest ? number : lowest;
        highest = number > highest ? number : highest;
        if (number < first || number > last)
            continue;
        taken_first = number < taken_first ? number : taken_first;
        taken_last = number > taken_last ? number : taken_last;
        if (!window->is_set || ranges[i].start_ns < window->start_ns)
            window->start_ns = ranges[i].start_ns;
        if (!window->is_set || ranges[i].end_ns > window->end_ns)
            window->end_ns = ranges[i].end_ns;
        window->is_set = window->follows_launches = true;
    }
    if (window->is_set) {
        file->part =
            (struct timeline_part){"step", taken_first, taken_last,
                                   first < lowest || (last != UINT64_MAX && last > highest), ""};
        if (file->part.is_cut)
            snprintf(file->part.note, sizeof(file->part.note),
                     "--steps %.40s: the trace has %" PRIu64 " to %" PRIu64 ", taken were %" PRIu64
                     " to %" PRIu64,
                     text, lowest, highest, taken_first, taken_last);
        return CLI_DONE;
    }
    if (any)
        cli_message(file->path, "no step %s, the trace has %llu to %llu", text,
                    (unsigned long long)lowest, (unsigned long long)highest);
    else
        cli_message(file->path, "no ranges such as ProfilerStep#3: use --range or --window");
    return CLI_NO;
}

static void take_instances(const char *text, uint64_t first, uint64_t last, size_t there,
                           struct timeline_part *part)
{
    const uint64_t highest = (uint64_t)there - 1;

    *part = (struct timeline_part){"instance", first, last < highest ? last : highest,
                                   last != UINT64_MAX && last > highest, ""};
    if (part->is_cut)
        snprintf(part->note, sizeof(part->note),
                 "--instance %.40s: the trace has 0 to %" PRIu64 ", taken were %" PRIu64
                 " to %" PRIu64,
                 text, highest, part->first, part->last);
}

static int read_range(const struct timeline_request *request, struct timeline_file *file)
{
    uint64_t first = 0, last = UINT64_MAX;
    ridge_error err;
    size_t there;

    if (request->instance != NULL && !read_span(request->instance, &first, &last))
        return cli_usage_error("--instance '%s': expected A or A..B", request->instance);
    if (ridge_trace_range_window(file->trace, request->range, (size_t)first,
                                 last > SIZE_MAX ? SIZE_MAX : (size_t)last, &file->window, &there,
                                 &err) == RIDGE_OK) {
        if (request->instance != NULL)
            take_instances(request->instance, first, last, there, &file->part);
        return CLI_DONE;
    }
    cli_fail(file->path, &err);
    return err.status == RIDGE_ERR_INVALID_ARGUMENT ? CLI_NO : ridge_status_exit(err.status);
}

int timeline_choose_part(const struct timeline_request *request, struct timeline_file *file)
{
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(file->trace, &count);

    file->origin_ns = count > 0 ? ops[0].start_ns : 0;
    if (request->window != NULL)
        return read_window(request->window, file);
    if (request->steps != NULL)
        return read_steps(request->steps, file);
    return request->range != NULL ? read_range(request, file) : CLI_DONE;
}

void timeline_print_part(const struct timeline_file *file, ridge_output *output)
{
    timeline_labelled(output, "note", file->part.note);
}

/* How often each name stands for a range in the part that is told; NULL: out of memory. */
static size_t *count_names(const struct timeline_file *file)
{
    const ridge_trace_window *const window = &file->window;
    size_t count, i;
    const ridge_trace_range *const ranges = ridge_trace_ranges(file->trace, &count);
    size_t *const counts = calloc(ridge_trace_name_count(file->trace) + 1, sizeof(*counts));

    for (i = 0; counts != NULL && i < count; i++)
        if ((ranges[i].kind == RIDGE_RANGE_NVTX || ranges[i].kind == RIDGE_RANGE_ANNOTATION) &&
            (!window->is_set ||
             (ranges[i].start_ns >= window->start_ns && ranges[i].start_ns < window->end_ns)))
            counts[ranges[i].name]++;
    return counts;
}

size_t timeline_count_steps(const struct timeline_file *file)
{
    size_t *const counts = count_names(file);
    const size_t name_count = ridge_trace_name_count(file->trace);
    size_t steps = 0, i;
    uint64_t number;

    for (i = 0; counts != NULL && i <= name_count; i++)
        if (counts[i] > 0 && step_number(ridge_trace_name(file->trace, (uint32_t)i, NULL), &number))
            steps += counts[i];
    free(counts);
    return steps;
}
