/* SPDX-License-Identifier: Apache-2.0
 *
 * The screen of ridge timeline behind the three lines of timeline_answer.c. The parts of a
 * screen have more rows than fit; it is laid out in memory, and the least important part gives rows
 * up until the whole fits. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_cli.h"

enum { SCREEN_LINES = 60, LABEL = TIMELINE_LABEL, WORD = 32 };

/* Rows of each part. */
struct limits {
    size_t causes, gaps, kernels, ranges, streams, copies, faults, devices, processes;
};

/* -- facts ------------------------------------------------------------------------------------- */

struct sentence {
    char text[640];
    size_t used;
};

static void RIDGE_PRINTF(2, 3) add(struct sentence *sentence, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(sentence->text + sentence->used, sizeof(sentence->text) - sentence->used,
                       format, arguments);
    va_end(arguments);
    sentence->used += length > 0 ? (size_t)length : 0;
    if (sentence->used >= sizeof(sentence->text))
        sentence->used = sizeof(sentence->text) - 1;
}

static void print_source(const struct timeline_view *view, ridge_output *output)
{
    const struct timeline_file *const file = view->file;
    const ridge_trace_info *const info = file->info;
    const char *const name = cli_base_name(file->path);
    const int columns = ridge_output_columns(output);
    const size_t most = columns > 2 * LABEL ? (size_t)columns - LABEL - 1 : LABEL; /* and ':' */
    const size_t length = strlen(name);
    struct sentence line = {.used = 0};
    char from[WORD], to[WORD];

    if (length > most)
        add(&line, "%.*s...%s", (int)(most - most / 3 - 3), name, name + length - most / 3);
    else
        add(&line, "%s", name);
    add(&line, ": %s",
        info->producer[0] != '\0' ? info->producer : ridge_trace_format_name(info->format));
    if (info->schema[0] != '\0')
        add(&line, ", schema %s", info->schema);
    if (info->graph_mode == RIDGE_GRAPH_MODE_NODE)
        add(&line, ", graphs by node");
    if (info->graph_mode == RIDGE_GRAPH_MODE_GRAPH)
        add(&line, ", graphs as a whole");
    if (info->rank >= 0)
        add(&line, ", rank %d", info->rank);
    if (info->rank >= 0 && info->world_size > 0)
        add(&line, " of %d", info->world_size);
    if (file->window.is_set)
        add(&line, "; window %s%s to %s",
            timeline_time(fabs((double)(file->window.start_ns - file->origin_ns)), from,
                          sizeof(from)),
            file->window.start_ns < file->origin_ns ? " before the first work" : "",
            timeline_time((double)(file->window.end_ns - file->origin_ns), to, sizeof(to)));
    timeline_labelled(output, "trace", line.text);
}

static void print_queue(const struct timeline_view *view, ridge_output *output)
{
    const ridge_device_account *const account = view->account;
    struct sentence line = {.used = 0};
    char text[WORD], other[WORD];

    if (!isnan(account->median_launch_period_ns) && !isnan(account->median_kernel_ns))
        add(&line, "; one every %s (median), a kernel takes %s",
            timeline_time(account->median_launch_period_ns, text, sizeof(text)),
            timeline_time(account->median_kernel_ns, other, sizeof(other)));
    if (!isnan(account->queue_empty_frac))
        add(&line, "; queue empty at %.0f %%, %.*f ahead of a launch (median), at most %zu",
            100 * account->queue_empty_frac,
            account->queue_depth_median == floor(account->queue_depth_median) ? 0 : 1,
            account->queue_depth_median, account->queue_depth_most);
    if (account->queue_full_ns > 0)
        add(&line, "; waited %s for room in it",
            timeline_time((double)account->queue_full_ns, text, sizeof(text)));
    if (account->graph_launch_count > 0)
        add(&line, "; %zu graph launch%s with %zu of %zu kernels", account->graph_launch_count,
            account->graph_launch_count == 1 ? "" : "es", account->graph_kernel_count,
            account->kernel_count + account->graph_row_count);
    timeline_labelled(output, "launches", line.used > 2 ? line.text + 2 : "");
}

static void print_overlap(const struct timeline_view *view, ridge_output *output)
{
    const ridge_device_account *const account = view->account;
    struct sentence line = {.used = 0};
    size_t count;
    const ridge_trace_stream *const streams = ridge_trace_streams(view->file->trace, &count);
    char text[WORD], share[WORD];

    if (account->concurrent_ns > 0)
        add(&line, "; two or more at once for %s, at most %zu",
            timeline_time((double)account->concurrent_ns, text, sizeof(text)),
            account->concurrent_most);
    if (account->copy_ns > 0)
        add(&line, "; copies %s, %s of it under kernels",
            timeline_time((double)account->copy_ns, text, sizeof(text)),
            account->copy_hidden_ns == 0
                ? "none"
                : timeline_percent((double)account->copy_hidden_ns, (double)account->copy_ns, share,
                                   sizeof(share)));
    if (account->collective_ns > 0)
        add(&line, "; communication %s, exposed %s",
            timeline_time((double)account->collective_ns, text, sizeof(text)),
            timeline_time((double)(account->collective_ns - account->collective_hidden_ns), share,
                          sizeof(share)));
    if (account->serial_count > 0 && account->serial_streams[0] < count &&
        account->serial_streams[1] < count)
        add(&line,
            "; streams %" PRId64 " and %" PRId64 " never overlap, work of the legacy default "
            "stream stands between them %zu times",
            streams[account->serial_streams[0]].id, streams[account->serial_streams[1]].id,
            account->serial_count);
    timeline_labelled(output, "overlap", line.used > 2 ? line.text + 2 : "");
}

/* What makes the numbers doubtful first. */
static void print_faults(const struct timeline_view *view, size_t most, ridge_output *output)
{
    const uint32_t device = view->account != NULL ? view->account->device : RIDGE_TRACE_NONE;
    size_t count, shown = 0, wanted = 0, i;
    const ridge_trace_fault *const faults = ridge_timeline_faults(view->file->timeline, &count);
    int pass;

    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < count; i++) {
            if (faults[i].is_unreliable != (pass == 0) ||
                (faults[i].device != RIDGE_TRACE_NONE && faults[i].device != device))
                continue;
            wanted++;
            if (shown >= most)
                continue;
            shown++;
            timeline_labelled(output, pass == 0 ? "warning" : "note", faults[i].text);
        }
    if (wanted > shown) {
        char text[64];

        snprintf(text, sizeof(text), "%-*s%zu more: --json\n", LABEL, "note", wanted - shown);
        ridge_output_styled(output, RIDGE_STYLE_DIM, text);
    }
}

/* -- what next --------------------------------------------------------------------------------- */

/* Length of a word of the shell: quotes hold spaces. */
static size_t word_length(const char *text)
{
    size_t length = 0;
    char quote = '\0';

    for (; text[length] != '\0' && (quote != '\0' || text[length] != ' '); length++)
        if (quote != '\0')
            quote = text[length] == quote ? '\0' : quote;
        else if (text[length] == '\'' || text[length] == '"')
            quote = text[length];
    return length;
}

/* A command that can be copied: broken in front of an option with a backslash, so that its value
 * stays beside it; a long word stays whole. */
static void print_command(const char *command, ridge_output *output)
{
    const size_t columns = (size_t)ridge_output_columns(output);
    size_t column = 4;
    bool is_value = false; /* of the option in front, on whose line it stays */

    ridge_output_text(output, "    ");
    while (*command != '\0') {
        const size_t length = word_length(command);
        const char *const after = command + length + (command[length] == ' ' ? 1 : 0);
        const size_t value = command[0] == '-' && *after != '-' ? 1 + word_length(after) : 0;
        const bool may_break =
            !is_value && (command[0] == '-' || length > 60 || column > columns - 30);

        if (column > 4 && may_break && column + 1 + length + value + 2 > columns) {
            ridge_output_text(output, " \\\n      ");
            column = 6;
        } else if (column > 4) {
            ridge_output_text(output, " ");
            column++;
        }
        ridge_output_format(output, "%.*s", (int)length, command);
        column += length;
        is_value = value > 0;
        command += length;
        command += strspn(command, " ");
    }
    ridge_output_text(output, "\n");
}

/* Far from its least time and worth little, or the other way round: the choice is the reader's. */
static void print_richest(const ridge_timeline_next *next, ridge_output *output)
{
    const ridge_trace_size *sizes;
    char name[TIMELINE_NAME], time[WORD], other[WORD];
    struct sentence line = {.used = 0};

    if (next->richest_ncu == NULL || next->richest_ncu[0] == '\0')
        return;
    timeline_short_name(next->richest->sum.name, name, sizeof(name));
    sizes = next->richest->sum.sizes;
    add(&line, "%.160s, where most is to gain%s: %.1f %% of the span, %.3gx its least time", name,
        next->worst->bound_count > 0 ? "" : " of those with a least time", 100 * next->richest_frac,
        next->richest->ratio);
    if (next->richest->sum.size_count > 0)
        add(&line, "; launches: %" PRIu64 " of %s, %" PRIu64 " of %s", sizes[0].count,
            timeline_time(sizes[0].median_ns, time, sizeof(time)), sizes[1].count,
            timeline_time(sizes[1].median_ns, other, sizeof(other)));
    timeline_labelled(output, "or", line.text);
    print_command(next->richest_ncu, output);
}

/* What the ranking does not tell by itself. */
static void print_ranking(const struct timeline_view *view, bool has_line, ridge_output *output)
{
    enum { TOLD = 50 }; /* a part of the kernels' time */
    const ridge_timeline_next *const next = &view->next;

    if (view->account->collective_ns > view->account->kernel_ns / TOLD)
        timeline_labelled(output, "",
                          "communication is left out of the ranking: a kernel that waits for "
                          "another rank would wait for ever under a profiler");
    if (has_line && next->is_inside && !(next->bounded_frac > 0) &&
        view->file->info->format == RIDGE_TRACE_KINETO && !view->file->info->has_shapes)
        timeline_labelled(output, "",
                          "ranked by time: least times need record_shapes=True, or --bounds");
}

static void print_next(const struct timeline_view *view, ridge_output *output)
{
    const ridge_timeline_next *const next = &view->next;
    const bool has_line = next->ncu != NULL && next->ncu[0] != '\0';
    const bool is_exposed = next->exposed[0] != '\0';
    char text[640];

    if (is_exposed)
        timeline_labelled(output, "first", next->exposed);
    if (!next->is_inside && next->fix[0] != '\0')
        timeline_labelled(output, is_exposed ? "then" : "first", next->fix);
    if (has_line) {
        timeline_kernel_text(view, text, sizeof(text));
        if (next->is_inside)
            timeline_labelled(output, is_exposed ? "then" : "first", text);
        else
            timeline_labelled(output, "then", "only after that, the kernel to profile:");
        print_command(next->ncu, output);
    }
    if (next->note[0] != '\0')
        timeline_labelled(output, has_line ? "" : "next", next->note);
    print_ranking(view, has_line, output);
    if (has_line && next->is_inside)
        print_richest(next, output);
    if (next->is_inside && next->fix[0] != '\0') {
        snprintf(text, sizeof(text), "the time between: %s", next->fix);
        timeline_labelled(output, "then", text);
    }
}

/* -- the screen -------------------------------------------------------------------------------- */

static void print_other_devices(const struct timeline_file *file, size_t most,
                                const struct timeline_request *request, ridge_output *output)
{
    size_t shown = 0, i;

    (void)request;
    for (i = 0; i < file->device_count && shown < most; i++) {
        struct timeline_view view = {.file = file, .account = &file->devices[i]};

        if (&file->devices[i] == file->main)
            continue;
        if (shown++ == 0)
            ridge_output_text(output, "\n");
        timeline_print_device(&view, output);
    }
    if (file->device_count > shown + 1)
        ridge_output_format(output, "%zu more devices: --device N\n",
                            file->device_count - 1 - shown);
}

static void blank(ridge_output *output, size_t rows)
{
    if (rows > 0)
        ridge_output_text(output, "\n");
}

/* Of a trace without work of a GPU: what the host did. */
static void print_host(const struct timeline_view *view, const struct limits *limits,
                       ridge_output *output)
{
    timeline_print_answer(view, output);
    timeline_print_part(view->file, output);
    ridge_output_text(output, "\n");
    print_source(view, output);
    print_faults(view, limits->faults, output);
    blank(output, view->api.count);
    timeline_table_api(view, limits->kernels, output);
    blank(output, view->ranges.count);
    timeline_table_ranges(view, limits->ranges, output);
}

static void print_parts(const struct timeline_view *view, const struct limits *limits,
                        const struct timeline_request *request, ridge_output *output)
{
    const ridge_device_account *const account = view->account;

    if (account == NULL) {
        print_host(view, limits, output);
        return;
    }
    timeline_print_answer(view, output);
    timeline_print_part(view->file, output);
    ridge_output_text(output, "\n");
    print_source(view, output);
    print_queue(view, output);
    print_overlap(view, output);
    print_faults(view, limits->faults, output);
    if (account->idle_ns > 0 && limits->causes > 0) {
        blank(output, 1);
        timeline_table_idle(view, limits->causes, output);
    }
    if (account->gap_count > 0 && limits->gaps > 0) {
        blank(output, 1);
        timeline_table_places(view, limits->gaps, output);
    }
    blank(output, view->kernels.count);
    timeline_table_kernels(view, limits->kernels, request->whole_names, output);
    if (limits->ranges > 0) {
        blank(output, view->ranges.count);
        timeline_table_ranges(view, limits->ranges, output);
    }
    if (limits->copies > 0) {
        blank(output, view->copies.count);
        timeline_table_copies(view, limits->copies, output);
    }
    if (account->stream_count > 1 && limits->streams > 0) {
        blank(output, 1);
        timeline_table_streams(view, limits->streams, output);
    }
    timeline_table_processes(view, limits->processes, output);
    print_other_devices(view->file, limits->devices, request, output);
    if (view->next.exposed[0] != '\0' || view->next.fix[0] != '\0' || view->next.ncu != NULL ||
        view->next.note[0] != '\0') {
        blank(output, 1);
        print_next(view, output);
    }
}

static size_t count_lines(const struct timeline_view *view, const struct limits *limits,
                          const struct timeline_request *request, int columns)
{
    char *text = NULL;
    size_t size = 0, lines = 0, i;
    FILE *const stream = open_memstream(&text, &size);
    ridge_output *output;
    ridge_error err;

    if (stream == NULL)
        return 0;
    output = ridge_output_create(stream, columns, false);
    print_parts(view, limits, request, output);
    if (ridge_output_close(output, &err) != RIDGE_OK)
        size = 0;
    fclose(stream);
    for (i = 0; i < size && text != NULL; i++)
        lines += text[i] == '\n' ? 1 : 0;
    free(text);
    return lines;
}

/* Takes rows from the least important part that has more than it needs; false: nothing is left. */
static bool shrink(struct limits *limits)
{
    const struct {
        size_t *rows;
        size_t least;
    } parts[] = {
        {&limits->streams, 3}, {&limits->ranges, 4},    {&limits->devices, 3},
        {&limits->copies, 3},  {&limits->processes, 3}, {&limits->faults, 4},
        {&limits->causes, 6},  {&limits->gaps, 3},      {&limits->kernels, 6},
        {&limits->streams, 0}, {&limits->processes, 0}, {&limits->faults, 2},
        {&limits->devices, 1}, {&limits->copies, 1},    {&limits->ranges, 2},
        {&limits->kernels, 3}, {&limits->gaps, 1},      {&limits->ranges, 0},
        {&limits->copies, 0},  {&limits->causes, 3},    {&limits->devices, 0},
        {&limits->faults, 1},
    };
    size_t i;

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (*parts[i].rows > parts[i].least) {
            --*parts[i].rows;
            return true;
        }
    return false;
}

ridge_status timeline_print_screen(const struct timeline_file *file,
                                   const struct timeline_request *request, ridge_output *output,
                                   ridge_error *err)
{
    struct limits limits = {.causes = 9,
                            .gaps = 5,
                            .kernels = 10,
                            .ranges = 6,
                            .streams = 5,
                            .copies = 4,
                            .faults = 6,
                            .devices = 7,
                            .processes = 4};
    struct timeline_view view;
    const ridge_status status = timeline_view_make(file, file->main, request, &view, err);
    size_t lines, i;
    bool more = true;

    if (status != RIDGE_OK)
        return status;
    /* Where hardly anything is idle, gaps tell nothing. */
    if (file->main != NULL && file->main->idle_ns < timeline_span(file->main) / 50)
        limits.gaps = 0;
    /* Half of what is too much at once: a part that goes whole takes its heading along. */
    do {
        lines = count_lines(&view, &limits, request, ridge_output_columns(output));
        for (i = 0; lines > SCREEN_LINES && i < (lines - SCREEN_LINES + 1) / 2; i++)
            more = shrink(&limits);
    } while (lines > SCREEN_LINES && more);
    print_parts(&view, &limits, request, output);
    timeline_view_release(&view);
    return RIDGE_OK;
}

ridge_status timeline_print_tables(const struct timeline_file *file,
                                   const struct timeline_request *request, ridge_output *output,
                                   ridge_error *err)
{
    struct timeline_view view;
    const ridge_status status = timeline_view_make(file, file->main, request, &view, err);

    if (status != RIDGE_OK)
        return status;
    timeline_print_answer(&view, output);
    timeline_print_part(file, output);
    if (request->kernels) {
        ridge_output_text(output, "\n");
        timeline_table_kernels(&view, SIZE_MAX, request->whole_names, output);
    }
    if (request->api) {
        ridge_output_text(output, "\n");
        timeline_table_api(&view, SIZE_MAX, output);
    }
    if (request->nvtx) {
        ridge_output_text(output, "\n");
        timeline_table_ranges(&view, SIZE_MAX, output);
    }
    if (request->gaps != OPTION_UNSET && view.account != NULL) {
        ridge_output_text(output, "\n");
        timeline_table_gaps(&view, request->gaps, output);
    }
    if (request->streams && view.account != NULL) {
        ridge_output_text(output, "\n");
        timeline_table_streams(&view, SIZE_MAX, output);
    }
    timeline_view_release(&view);
    return RIDGE_OK;
}
