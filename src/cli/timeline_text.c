/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge timeline as text: the answer in three lines, then a screen that explains it. The parts of a
 * screen have more rows than fit; it is laid out in memory, and the least important part gives rows
 * up until the whole fits. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_cli.h"

enum { SCREEN_LINES = 60, LABEL = 10, WORD = 32 };

/* Rows of each part. */
struct limits {
    size_t causes, gaps, kernels, ranges, streams, copies, faults, devices, processes;
};

/* -- the answer -------------------------------------------------------------------------------- */

/* Where a text is cut so that no more than room bytes are left: behind a sentence or clause, else
 * before a comma that no bracket holds, else a word. 0: nowhere. */
static size_t find_cut(const char *text, size_t room)
{
    size_t clause = 0, comma = 0, word = 0, at;
    int depth = 0;

    for (at = 0; at < room && text[at] != '\0'; at++) {
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
        if (text[at] == ';' || (text[at] == '.' && text[at + 1] == ' '))
            clause = depth == 0 ? at : clause;
        if (text[at] == ',' && text[at + 1] == ' ' && depth == 0)
            comma = at;
        if (text[at] == ' ')
            word = at;
    }
    return clause > room / 4 ? clause : comma > room / 2 ? comma : word;
}

/* The beginning of a text that fits so many columns. */
static void clip(const char *text, size_t columns, char *buffer, size_t size)
{
    const size_t room = columns < size - 1 ? columns : size - 1;
    size_t cut;

    snprintf(buffer, size, "%s", text);
    if (strlen(text) <= room)
        return;
    cut = find_cut(text, room);
    if (cut > 0 && strchr(";.,", text[cut]) != NULL) {
        buffer[cut] = '\0';
        return;
    }
    cut = find_cut(text, room - 3);
    snprintf(buffer, size, "%.*s...", (int)(cut > 0 ? cut : room - 3), text);
}

static ridge_style verdict_style(ridge_timeline_verdict verdict)
{
    switch (verdict) {
    case RIDGE_TIMELINE_GPU_BOUND:
    case RIDGE_TIMELINE_GRAPH_REPLAY:
        return RIDGE_STYLE_GOOD;
    case RIDGE_TIMELINE_NOTHING:
    case RIDGE_TIMELINE_INCOMPLETE:
        return RIDGE_STYLE_BAD;
    default:
        return RIDGE_STYLE_WARN;
    }
}

static void print_device(const struct timeline_view *view, ridge_output *output)
{
    const ridge_trace *const trace = view->file->trace;
    const ridge_device_account *const account = view->account;
    const double span_ns = (double)timeline_span(account);
    const size_t columns = (size_t)ridge_output_columns(output);
    char label[WORD], text[128], span[WORD], kernels[WORD], copies[WORD], idle[WORD];
    const char *name = timeline_device_name(trace, account);
    size_t taken;

    snprintf(label, sizeof(label), "device %" PRId64, timeline_device_id(trace, account));
    timeline_percent((double)account->idle_ns, span_ns, idle, sizeof(idle));
    snprintf(text, sizeof(text), "span %s = kernels %s + copies only %s + idle ",
             timeline_time(span_ns, span, sizeof(span)),
             timeline_percent((double)account->kernel_ns, span_ns, kernels, sizeof(kernels)),
             timeline_percent((double)account->copy_only_ns, span_ns, copies, sizeof(copies)));
    /* The name gives way to the numbers. */
    taken = LABEL + strlen(text) + strlen(idle) + 2;
    if (taken + strlen(name) > columns && strncmp(name, "NVIDIA ", 7) == 0)
        name += 7;
    if (taken + strlen(name) > columns)
        name = taken + 8 > columns ? "" : name;
    ridge_output_format(output, "%-*s %.*s%s%s", LABEL - 1, label,
                        (int)(columns > taken ? columns - taken : 0), name,
                        name[0] != '\0' ? "  " : "", text);
    ridge_output_styled(output, RIDGE_STYLE_STRONG, idle);
    ridge_output_text(output, "\n");
}

static void print_verdict(const struct timeline_view *view, ridge_output *output)
{
    const ridge_device_account *const account = view->account;
    const char *const verdict = ridge_timeline_verdict_name(account->verdict);
    const char *const pace = ridge_pace_name(account->pace);
    const size_t taken = LABEL + strlen(verdict) + (pace[0] != '\0' ? 2 + strlen(pace) : 0) + 2;
    const size_t columns = (size_t)ridge_output_columns(output);
    char reason[256];

    ridge_output_format(output, "%-*s", LABEL, "verdict");
    ridge_output_styled(output, verdict_style(account->verdict), verdict);
    ridge_output_format(output, "%s%s", pace[0] != '\0' ? ", " : "", pace);
    clip(account->reason, columns > taken + 20 ? columns - taken : 20, reason, sizeof(reason));
    ridge_output_format(output, "%s%s\n", reason[0] != '\0' ? ": " : "", reason);
}

/* What to do, in words; the whole of it stands at the end. */
static void next_text(const struct timeline_view *view, char *buffer, size_t size)
{
    const ridge_timeline_next *const next = &view->next;
    const ridge_kernel_rank *const worst = next->worst;
    char name[TIMELINE_NAME], share[WORD], ratio[64] = "";

    if (!next->is_inside && next->fix[0] != '\0') {
        snprintf(buffer, size, "%s", next->fix);
    } else if (worst != NULL) {
        ridge_kernel_base_name(worst->sum.name, name, sizeof(name));
        if (!isnan(worst->ratio))
            snprintf(ratio, sizeof(ratio), ", %.3gx its least time", worst->ratio);
        snprintf(buffer, size, "profile %.48s: %s of the kernels' time%s", name,
                 timeline_percent(worst->share_frac, 1, share, sizeof(share)), ratio);
    } else {
        snprintf(buffer, size, "%s", next->fix[0] != '\0' ? next->fix : next->note);
    }
}

/* Why a trace has no work of a GPU, from what it says about itself. */
static void print_nothing(const struct timeline_view *view, ridge_output *output)
{
    const struct timeline_file *const file = view->file;
    size_t count, i;
    const ridge_trace_diagnostic *const said = ridge_trace_diagnostics(file->trace, &count);
    const ridge_trace_diagnostic *worst = NULL;
    char text[320] = "no work of a GPU was recorded", line[256];

    for (i = 0; i < count; i++)
        if (said[i].severity >= 2 && (worst == NULL || said[i].severity > worst->severity))
            worst = &said[i];
    if (file->window.is_set)
        snprintf(text, sizeof(text), "no work of a GPU in this part of the trace");
    else if (worst != NULL)
        snprintf(text, sizeof(text), "the recording tool said: %.240s", worst->text);
    ridge_output_format(output, "%-*snone\n%-*s", LABEL, "device", LABEL, "verdict");
    ridge_output_styled(output, verdict_style(RIDGE_TIMELINE_NOTHING),
                        ridge_timeline_verdict_name(RIDGE_TIMELINE_NOTHING));
    clip(text, (size_t)ridge_output_columns(output) - LABEL - 12, line, sizeof(line));
    ridge_output_format(
        output, ": %s\n%-*s%s\n", line, LABEL, "next",
        file->window.is_set ? "another part, or the whole"
        : file->info->format == RIDGE_TRACE_KINETO
            ? "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
            : "record with nsys profile -t cuda,nvtx, of the process that launches");
}

void timeline_print_answer(const struct timeline_view *view, ridge_output *output)
{
    char text[640], line[256];

    if (view->account == NULL) {
        print_nothing(view, output);
        return;
    }
    print_device(view, output);
    print_verdict(view, output);
    next_text(view, text, sizeof(text));
    clip(text, (size_t)ridge_output_columns(output) - LABEL, line, sizeof(line));
    if (line[0] != '\0')
        ridge_output_format(output, "%-*s%s\n", LABEL, "next", line);
}

/* -- facts ------------------------------------------------------------------------------------- */

static void labelled(ridge_output *output, const char *label, const char *text)
{
    char first[WORD];

    if (text[0] == '\0')
        return;
    snprintf(first, sizeof(first), "%-*s", LABEL, label);
    ridge_output_wrap(output, LABEL, first, text);
}

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
    struct sentence line = {.used = 0};
    char from[WORD], to[WORD];

    add(&line, "%.200s: %s", cli_base_name(file->path),
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
        add(&line, "; window %s to %s",
            timeline_time((double)(file->window.start_ns - file->origin_ns), from, sizeof(from)),
            timeline_time((double)(file->window.end_ns - file->origin_ns), to, sizeof(to)));
    labelled(output, "trace", line.text);
}

static void print_queue(const struct timeline_view *view, ridge_output *output)
{
    const ridge_device_account *const account = view->account;
    struct sentence line = {.used = 0};
    char text[WORD], other[WORD];

    if (isnan(account->median_launch_period_ns) && isnan(account->queue_depth_median))
        return;
    add(&line, "one every %s (median), a kernel takes %s",
        timeline_time(account->median_launch_period_ns, text, sizeof(text)),
        timeline_time(account->median_kernel_ns, other, sizeof(other)));
    if (!isnan(account->queue_empty_frac))
        add(&line, "; queue empty at %.0f %%, median depth %.3g, most %zu",
            100 * account->queue_empty_frac, account->queue_depth_median,
            account->queue_depth_most);
    if (account->queue_full_ns > 0)
        add(&line, "; waited %s for room in it",
            timeline_time((double)account->queue_full_ns, text, sizeof(text)));
    if (account->graph_launch_count > 0)
        add(&line, "; %zu graph launches with %zu of %zu kernels", account->graph_launch_count,
            account->graph_kernel_count, account->kernel_count + account->graph_row_count);
    labelled(output, "launches", line.text);
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
    labelled(output, "overlap", line.used > 2 ? line.text + 2 : "");
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
            labelled(output, pass == 0 ? "doubtful" : "note", faults[i].text);
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

    ridge_output_text(output, "    ");
    while (*command != '\0') {
        const size_t length = word_length(command);
        const char *const after = command + length + (command[length] == ' ' ? 1 : 0);
        const size_t value = command[0] == '-' && *after != '-' ? 1 + word_length(after) : 0;
        const bool may_break = command[0] == '-' || length > 60 || column > columns - 30;

        if (column > 4 && may_break && column + 1 + length + value + 2 > columns) {
            ridge_output_text(output, " \\\n      ");
            column = 6;
        } else if (column > 4) {
            ridge_output_text(output, " ");
            column++;
        }
        ridge_output_format(output, "%.*s", (int)length, command);
        column += length;
        command += length;
        command += strspn(command, " ");
    }
    ridge_output_text(output, "\n");
}

static void print_next(const struct timeline_view *view, ridge_output *output)
{
    const ridge_timeline_next *const next = &view->next;
    const bool has_line = next->ncu != NULL && next->ncu[0] != '\0';
    char text[640];

    if (!next->is_inside && next->fix[0] != '\0')
        labelled(output, "first", next->fix);
    next_text(view, text, sizeof(text));
    if (has_line) {
        if (next->is_inside)
            labelled(output, "first", text);
        else
            labelled(output, "then", "only after that, the kernel to profile:");
        print_command(next->ncu, output);
    }
    if (next->note[0] != '\0')
        labelled(output, has_line ? "" : "next", next->note);
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
        print_device(&view, output);
        print_verdict(&view, output);
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
    if (view->next.fix[0] != '\0' || view->next.ncu != NULL || view->next.note[0] != '\0') {
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
